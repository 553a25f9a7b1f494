"""The interactive zksh on a real screen, with a real server: typing, output, history, events."""
import re
import unittest

from editor_case import wrapped
from shell_case import ShellTest


class Commands(ShellTest):
    def test_output_and_errors_stand_between_the_prompts(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "create /a hello", 0), ["Created /a"])
        self.assertEqual(self.run_line(screen, "get /a", 1), ["hello"])
        self.assertEqual(self.run_line(screen, "get /b", 2), ["Node does not exist: /b"])
        self.assertEqual(self.run_line(screen, "set /a x", 3), [])
        self.assertEqual(self.run_line(screen, "get", 4), [
            "get: too few arguments: path expected", "usage: get [-s] [-h] [-w] [-b] [-x] [--raw] [--decode compression] path…"])
        self.assertEqual(self.run_line(screen, "create /b $'x\\qy'", 5), [
            "unknown escape in $'…'; a backslash is written \\\\", "  create /b $'x\\qy'", "               ^"])

    def test_an_unclosed_quote_goes_on_in_the_next_line(self):
        screen = self.start()
        screen.type("create /a 'one\n")
        screen.wait_for(lambda s: s.lines()[-2:] == [self.prompt(0) + " create /a 'one", "'>"])
        screen.type("two'\n")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.run_line(screen, "get /a", 1), ["one", "two"])
        screen.type("set /a 'never\n")
        screen.wait_for(lambda s: s.lines()[-1] == "'>")
        screen.keys("C-c")
        self.wait_prompt(screen, 2)
        self.assertEqual(self.run_line(screen, "get /a", 2), ["one", "two"])

    def test_commands_on_one_line_stop_at_the_first_that_fails(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "create /a x;get /a; ls /", 0), ["Created /a", "x", "a"])
        self.assertEqual(self.run_line(screen, "get /none; delete /a", 1), ["Node does not exist: /none"])
        self.assertEqual(self.run_line(screen, "ls /|wc -l", 2), ["1"])
        self.assertEqual(self.run_line(screen, "redo 0", 3),
                         ["Node already exists: /a"])

    def test_help_fits_80_columns(self):
        screen = self.start()
        for number, line in enumerate(["help", "help create", "help get", "deleteall --help"]):
            shown = self.run_line(screen, line, number)
            self.assertGreater(len(shown), 5)
            # A row that wraps is joined by tmux to a longer one.
            self.assertEqual(screen.lines(history=True, joined=True), screen.lines(history=True))

    def test_output_longer_than_the_screen(self):
        for i in range(300):
            self.znodes.create(f"{self.root}/n{i:03}")
        screen = self.start()
        self.assertEqual(self.run_line(screen, "ls -R /", 0),
                         ["/", *(f"/n{i:03}" for i in range(300))])

    def test_hostile_names_and_values_show_nothing_but_text(self):
        self.znodes.create(f"{self.root}/\u202eevil",
                      b"\033]0;title\007\033[2J\033[Hx\rfake\x00\xff\x9b2J\xe2\x80\xaey\nnext")
        screen = self.start()
        self.assertEqual(self.run_line(screen, "ls /", 0), ["\\u202eevil"])
        self.assertEqual(self.run_line(screen, "get $'/\\u202eevil'", 1), [
            "\\x1b]0;title\\x07\\x1b[2J\\x1b[Hx\\x0dfake\\x00\\xff\\x9b2J\\u202ey", "next"])
        self.assertTrue(self.run_line(screen, "get $'/\\u202enone\\x1b[2J'", 2)[0].startswith(
            'Invalid path string "/\\u202enone\\x1b[2J" caused by'))
        self.run_line(screen, "$'\\x1b[2Jget'", 3)
        self.assertTrue(screen.lines()[0].startswith("zksh "), screen.text())

    def test_a_paste_is_one_value_or_several_lines_up_to_the_first_that_fails(self):
        screen = self.start()
        screen.type("create /x '")
        screen.paste("line1\ndelete /x")
        screen.type("'\n")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.run_line(screen, "get /x", 1), ["line1", "delete /x"])
        screen.paste("create /a one\n\nget /a\n# a comment\nget /none\ndelete /a\ndelete /x\n")
        screen.wait_for(lambda s: s.lines()[-1] == "> delete /x")
        self.assertEqual(screen.lines()[-7:-1], [self.prompt(2) + " create /a one", ">", "> get /a", "> # a comment",
                                                 "> get /none", "> delete /a"])
        screen.keys("Enter")
        self.wait_prompt(screen, 5)
        self.assertEqual(screen.lines()[-5:-1], ["Created /a", "one", "Node does not exist: /none",
                                                 "stopped after a failure; the next 2 lines were not run"])
        self.assertEqual(self.run_line(screen, "ls /", 5), ["a  x"])


class Typing(ShellTest):
    def test_history_up_and_search(self):
        screen = self.start()
        self.run_line(screen, "create /first x", 0)
        self.run_line(screen, "stat /none", 1)
        screen.keys("Up", "Up")
        self.wait_prompt(screen, 2, typed="create /first x")
        screen.keys("Down", "Enter")
        self.wait_prompt(screen, 3)
        screen.keys("C-r")
        screen.type("fir")
        screen.wait_for("(reverse-i-search)`fir': create /first x")
        screen.keys("Enter")
        self.wait_prompt(screen, 4)
        self.assertEqual(screen.lines()[-2], "Node already exists: /first")

    def test_history_is_there_in_the_next_shell(self):
        screen = self.start()
        self.run_line(screen, "create /kept x", 0)
        self.run_line(screen, "addauth digest joe:secret", 1)
        screen.keys("C-d")
        self.wait_exit(screen, 0)
        screen = self.start()
        screen.keys("Up", "Up")
        self.wait_prompt(screen, 0, typed="create /kept x")
        self.assertNotIn("secret", self.text("state/zksh/history"))

    def test_unwritable_history_is_one_warning(self):
        screen = self.start(XDG_STATE_HOME="/proc/none")
        self.run_line(screen, "create /a x", 0)
        self.run_line(screen, "ls /", 1)
        shown = screen.text(joined=True)
        warning = "the history is not saved: cannot write /proc/none/"
        self.assertEqual(shown.count(warning), 1, shown)
        self.assertEqual(shown.count("history"), 2, shown)  # and its file's name
        screen.keys("Up", "Up")
        self.wait_prompt(screen, 2, typed="create /a x")

    LINE = "create /größe/日本語/ключ 'wörld with spaces' über"

    def wait_line(self, screen, text, before):
        """The wrapped line stands at the bottom, with the cursor behind `before`."""
        rows = wrapped(self.prompt(2) + " " + text, 60)
        cursor = wrapped(self.prompt(2) + " " + before + "|", 60)

        def line_is_shown(s):
            return (s.lines()[-len(rows):] == rows and
                    s.cursor()[1] == len(s.lines()) - len(rows) + len(cursor) - 1)
        screen.wait_for(line_is_shown)

    def test_event_above_a_wrapped_line_with_the_cursor_in_the_middle(self):
        screen = self.start(width=60)
        self.run_line(screen, "create /größe x", 0)
        self.run_line(screen, "get -w /größe", 1)
        screen.type(self.LINE)
        screen.keys(*["Left"] * 25)
        self.wait_line(screen, self.LINE, self.LINE[:-25])
        self.znodes.set(f"{self.root}/größe", b"y")
        rows = len(wrapped(self.prompt(2) + " " + self.LINE, 60))
        screen.wait_for(lambda s: s.lines()[:-rows][-2] == "x" and
                        re.fullmatch(r"\d\d:\d\d:\d\d changed  /größe", s.lines()[:-rows][-1]))
        self.wait_line(screen, self.LINE, self.LINE[:-25])
        screen.type("é漢")
        self.wait_line(screen, self.LINE[:-25] + "é漢" + self.LINE[-25:], self.LINE[:-25] + "é漢")

    def test_burst_of_200_events_while_typing(self):
        for i in range(200):
            self.znodes.create(f"{self.root}/n{i}")
        screen = self.start(width=100)
        screen.paste("".join(f"get -w /n{i}\n" for i in range(200)))
        screen.keys("Enter")
        self.wait_prompt(screen, 200)
        text = "create /a '" + "größe " * 20 + "'"
        screen.type(text[:70])
        for i in range(200):
            self.znodes.set(f"{self.root}/n{i}", b"")
        screen.type(text[70:])
        screen.wait_for("changed  /n199")
        rows = wrapped(self.prompt(200) + " " + text, 100)
        screen.wait_for(lambda s: s.lines()[-len(rows):] == rows)
        everything = screen.lines(history=True)
        self.assertEqual([line[9:] for line in everything if re.match(r"\d\d:\d\d:\d\d ", line)],
                         [f"changed  /n{i}" for i in range(200)])
        self.assertEqual(sum(self.prompt(200) in line for line in everything), 1)


if __name__ == "__main__":
    unittest.main()
