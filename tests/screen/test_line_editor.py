"""The line editor on a real screen: the typed line stays intact, whatever appears above it."""
import unittest

from editor_case import EditorTest, columns, wrapped
from tmux import tmux_version


class Events(EditorTest):
    TEXT = "create /größe/日本語/ключ 'wörld with spaces' über"

    def type_in_middle(self, width):
        screen = self.start(width)
        screen.type(self.TEXT)
        screen.keys(*["Left"] * 20)
        self.wait_line(self.TEXT, width, self.TEXT[:-20])
        return screen

    def test_event_above_wrapped_utf8_line_with_cursor_in_the_middle(self):
        screen = self.type_in_middle(40)
        self.order("print an event")
        self.wait_line(self.TEXT, 40, self.TEXT[:-20], ["an event"])
        screen.type("é漢")
        self.wait_line(self.TEXT[:-20] + "é漢" + self.TEXT[-20:], 40, self.TEXT[:-20] + "é漢",
                       ["an event"])
        screen.keys("Enter")
        self.wait_accepted(self.TEXT[:-20] + "é漢" + self.TEXT[-20:])

    def test_events_above_a_line_over_many_rows_at_every_cursor_place(self):
        width = 40
        text = "日本語 " * 30
        screen = self.start(width)
        screen.type(text)
        self.wait_line(text, width, text)
        screen.keys("C-a")
        for place in range(0, 45):
            self.order(f"print event {place}")
            rows = wrapped("zk 0> " + text, width)
            before = wrapped("zk 0> " + text[:place] + "|", width)
            column = columns(before[-1]) - 1

            # The event and the line below it reach the screen one row after the other.
            def is_drawn(s):
                lines = s.lines()
                row = len(lines) - len(rows) + len(before) - 1
                return (lines[-len(rows):] == rows and s.text().count("zk 0>") == 1
                        and f"event {place}" in lines and s.cursor() == (column, row))
            screen.wait_for(is_drawn)
            cursor = screen.cursor()
            screen.keys("Right")
            screen.wait_for(lambda s: s.cursor() != cursor)

    def test_burst_of_200_events(self):
        screen = self.type_in_middle(40)
        self.order("burst 200")
        rows = wrapped("zk 0> " + self.TEXT, 40)
        screen.wait_for("event 200")
        screen.wait_for(lambda s: s.lines()[-len(rows):] == rows)
        everything = screen.lines(history=True)
        self.assertEqual([line for line in everything if line.startswith("event")],
                         [f"event {i}" for i in range(1, 201)])
        self.assertEqual(sum("zk 0>" in line for line in everything), 1, everything)
        screen.type("!")
        screen.wait_for(lambda s: s.lines()[-len(rows):] ==
                        wrapped("zk 0> " + self.TEXT[:-20] + "!" + self.TEXT[-20:], 40))

    def test_event_that_is_wider_than_the_screen(self):
        self.type_in_middle(40)
        self.order("print " + "x" * 100)
        self.wait_line(self.TEXT, 40, self.TEXT[:-20], ["x" * 40, "x" * 40, "x" * 20])

    def test_unfinished_output_waits_for_its_newline(self):
        screen = self.start()
        screen.type("abc")
        self.order("part one ")
        self.order("print two")
        self.wait_line("abc", 80, "abc", ["one two"])
        self.order("part rest")
        screen.keys("Enter")
        screen.wait_for("zk 1>")
        self.assertIn("restgot: abc", screen.lines())

    def test_event_during_incremental_search(self):
        screen = self.start(40)
        for line in ("create /first", "create /second"):
            screen.type(line + "\n")
        screen.wait_for("zk 2>")
        screen.keys("C-r")
        screen.type("fir")
        screen.wait_for("(reverse-i-search)`fir': create /first")
        before = screen.cursor()
        self.order("print an event")
        screen.wait_for(lambda s: s.lines()[-2:] == ["an event",
                                                     "(reverse-i-search)`fir': create /first"]
                        and s.cursor() == (before[0], before[1] + 1))
        screen.type("s")
        screen.wait_for("(reverse-i-search)`firs': create /first")
        screen.keys("Enter")
        self.wait_accepted("create /first", "create /second", "create /first")

    def test_prompt_changes_while_a_line_is_typed(self):
        screen = self.start()
        screen.type("abcdef")
        screen.keys("Left")
        self.order("prompt (lost) ")
        self.wait_line("abcdef", 80, "abcde", prompt="(lost) ")

    def test_line_higher_than_the_screen(self):
        screen = self.start(20, 6)
        text = "".join(chr(ord("a") + i % 26) for i in range(300))
        screen.type(text)
        rows = wrapped("zk 0> " + text, 20)
        self.wait_screen(rows[-6:])
        self.order("print an event")
        screen.wait_for(lambda s: "an event" in s.lines(history=True))
        self.wait_screen(rows[-6:])
        screen.keys("C-a")
        self.wait_screen(rows[:6], (6, 0))
        screen.keys("Enter")
        self.wait_accepted(text)


class Editing(EditorTest):
    def test_colour_of_the_prompt(self):
        shown = self.start().text(escapes=True)
        self.assertRegex(shown, "^\033\\[1m\033\\[32mzk\033\\[0m[^z]* 0>")

    def test_line_that_just_fills_a_row(self):
        screen = self.start(20)
        text = "x" * 14
        screen.type(text)
        self.wait_screen(["zk 0> " + text], (0, 1))
        screen.keys("BSpace")
        self.wait_screen(["zk 0> " + text[:-1]], (19, 0))
        screen.type("yz")
        self.wait_screen(["zk 0> " + text[:-1] + "y", "z"], (1, 1))
        self.assertEqual(screen.lines(joined=True), ["zk 0> " + text[:-1] + "yz"])

    def test_wide_character_that_does_not_fit_in_a_row(self):
        screen = self.start(21)
        screen.type("x" * 14 + "漢字")
        self.wait_screen(["zk 0> " + "x" * 14, "漢字"], (4, 1))
        screen.keys("Left", "Left", "BSpace")
        self.wait_screen(["zk 0> " + "x" * 13 + "漢", "字"], (19, 0))

    def test_combining_marks_and_what_cannot_be_shown(self):
        screen = self.start()
        screen.type("e\u0301x\u202ey\u200b")
        self.wait_line("e\u0301x\\u202ey\\u200b", 80, "ex\\u202ey\\u200b")
        screen.keys("C-v", "C-a")
        screen.wait_for("\\u200b^A")

    def wait_resized(self, before, after, width):
        """The line is there once and whole, with its cursor, below the events."""
        rows = wrapped("zk 0> " + before + after, width)
        cursor = wrapped("zk 0> " + before + "|", width)

        def line_is_shown(screen):
            return (screen.lines()[-len(rows):] == rows
                    and screen.cursor()[0] == columns(cursor[-1]) - 1
                    and screen.cursor()[1] == len(screen.lines()) - len(rows) + len(cursor) - 1)
        self.screen.wait_for(line_is_shown)
        above = self.screen.lines(history=True)[:-len(rows)]
        self.assertEqual(above, [f"event {i}" for i in range(1, 51)])

    def test_resize_while_typing(self):
        # The screen is full: tmux scrolls as many rows away as a line gets more when it is wrapped
        # anew, and rows of the line itself, if they are the first, are out of reach then.
        screen = self.start(80)
        # tmux 3.7 itself wraps wide characters wrongly.
        word, letter = ("日本語", "語") if tmux_version() < (3, 6) else ("größer", "ö")
        text = "set /größe " + f"{word} value " * 12
        self.order("burst 50")
        screen.wait_for("event 50")
        screen.type(text)
        screen.keys(*["Left"] * 50)
        for width in (80, 60, 40, 31, 47, 100, 26, 80):
            screen.resize(width, 24)
            self.wait_resized(text[:-50], text[-50:], width)
            screen.type(letter)  # the terminal alone may have got it right, but where is a key shown?
            self.wait_resized(text[:-50] + letter, text[-50:], width)
            screen.keys("BSpace")
            self.wait_resized(text[:-50], text[-50:], width)
        screen.type("!")
        screen.keys("Enter")
        self.wait_accepted(text[:-50] + "!" + text[-50:])

    def test_history_up_and_down(self):
        screen = self.start()
        for line in ("first /ä", "second"):
            screen.type(line + "\n")
        screen.wait_for("zk 2>")
        screen.type("typed")
        screen.keys("Up")
        screen.wait_for("zk 2> second")
        screen.keys("Up")
        screen.wait_for("zk 2> first /ä")
        screen.keys("Down", "Down")
        screen.wait_for("zk 2> typed")
        screen.keys("Up", "Up", "Enter")
        self.wait_accepted("first /ä", "second", "first /ä")

    def test_up_with_a_typed_beginning_finds_lines_that_begin_so(self):
        screen = self.start()
        for line in ("get /one", "ls /", "get /two", "get /two", "stat /"):
            screen.type(line + "\n")
        screen.wait_for("zk 5>")
        screen.type("get")
        for key, line in (("Up", "get /two"), ("Up", "get /one"), ("C-p", "get /one"), ("Down", "get /two"), ("Down", "get")):
            screen.keys(key)
            screen.wait_for(lambda shown, line=line: [row for row in shown.lines() if row][-1] == f"zk 5> {line}")
        # Where nothing begins so, it is the line before, and so on.
        screen.keys("C-u")
        screen.type("zzz")
        for key, line in (("Up", "stat /"), ("Up", "get /two"), ("Down", "stat /"), ("Down", "zzz")):
            screen.keys(key)
            screen.wait_for(lambda shown, line=line: [row for row in shown.lines() if row][-1] == f"zk 5> {line}")
        screen.keys("C-u", "Up", "Up", "Up", "Up")
        screen.wait_for("zk 5> ls /")

    def test_alt_dot_inserts_the_last_word_of_the_line_before(self):
        screen = self.start()
        screen.type("get /a/long/path\n")
        screen.wait_for("zk 1>")
        screen.type("stat ")
        screen.keys("M-.")
        screen.wait_for("zk 1> stat /a/long/path")

    def test_tab_does_nothing_yet(self):
        screen = self.start(cwd="/")
        screen.type("ls /et\tx")
        self.wait_line("ls /etx", 80, "ls /etx")

    def test_clear_screen_keeps_the_line(self):
        screen = self.start()
        screen.type("one\nabc")
        screen.wait_for("zk 1> abc")
        screen.keys("C-l")
        self.wait_screen(["zk 1> abc"], (9, 0))

    def test_vi_mode(self):
        screen = self.start(inputrc="set editing-mode vi\nset keyseq-timeout 1\n"
                                    "set show-mode-in-prompt on\n")
        screen.wait_for("(ins)zk 0>")
        screen.type("get /a /b")
        screen.keys("Escape")
        screen.wait_for("(cmd)zk 0>")
        screen.type("bdw0iX")
        screen.wait_for("(ins)zk 0> Xget /a b")
        screen.keys("Escape", "Escape")
        screen.wait_for("(cmd)")
        screen.type("db")
        screen.keys("Enter")
        screen.wait_for("zk 1>")
        screen.type("k")
        screen.keys("C-c")
        screen.wait_for("^C")

    def test_interrupt_drops_the_line(self):
        screen = self.start(40)
        text = "a line that is longer than the window is wide"
        screen.type(text)
        screen.keys("C-a", "Right")
        # The terminal drops what it has not handed on yet when Ctrl-C comes.
        self.wait_line(text, 40, "a")
        screen.keys("C-c")
        self.wait_screen([*wrapped("zk 0> " + text + "^C", 40), "zk 0>"], (6, 2))
        screen.type("next\n")
        self.wait_accepted("next")

    def test_interrupt_ends_a_search(self):
        screen = self.start()
        screen.type("first\n")
        screen.wait_for("zk 1>")
        screen.keys("C-r")
        screen.type("fi")
        screen.wait_for("i-search")
        screen.keys("C-c")
        screen.wait_for(lambda s: s.lines()[-1] == "zk 1>")
        screen.type("x\n")
        self.wait_accepted("first", "x")

    def test_end_of_input_on_an_empty_line_only(self):
        screen = self.start()
        screen.type("ab")
        screen.keys("C-d")
        screen.keys("BSpace", "BSpace", "C-d")
        screen.wait_for(lambda s: s.exit_status() == 0)
        self.assertEqual(self.accepted(), ["EOF"])

    def test_output_without_newline_before_the_prompt(self):
        screen = self.start()
        screen.type("noeol\n")
        screen.wait_for("zk 1>")
        self.assertEqual(screen.lines(), ["zk 0> noeol", "no newline%", "zk 1>"])


if __name__ == "__main__":
    unittest.main()
