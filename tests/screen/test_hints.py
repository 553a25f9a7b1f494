"""Hints and colours of the typed line: a key accepts a hint, and hints leave nothing on the screen."""
import re
import unittest

from editor_case import columns, wrapped
from shell_case import ShellTest, ZKSH


class HintTest(ShellTest):
    def start(self, *arguments, **how):
        return super().start(*arguments, **{"width": 100, "NO_COLOR": "", **how})

    def wait_line(self, screen, number, typed, hint=""):
        """Waits until the last line is the prompt, what is typed and a hint, with the cursor before the hint."""
        before = self.prompt(number) + " " + typed
        screen.wait_for(lambda s: s.lines()[-1] == (before + hint).rstrip() and s.cursor()[0] == len(before))

    def style_of(self, screen, text):
        """The SGR codes right before the first place of a text on the screen's last row."""
        found = re.search(r"((?:\033\[[0-9;]*m)*)" + re.escape(text), screen.lines(escapes=True)[-1])
        return found[1]


class Hints(HintTest):
    def test_the_rest_of_the_syntax(self):
        screen = self.start()
        screen.type("sync")
        self.wait_line(screen, 0, "sync", " path")
        screen.keys("C-u")
        screen.type("incr")
        self.wait_line(screen, 0, "incr", " [-c] path [amount]")
        self.assertIn("2m", self.style_of(screen, " [-c]"))
        screen.type(" /a")
        self.wait_line(screen, 0, "incr /a", " [amount]")
        screen.type(" x")
        self.wait_line(screen, 0, "incr /a x")

    def test_syntax_cannot_be_taken(self):
        screen = self.start()
        screen.type("stat")
        self.wait_line(screen, 0, "stat", " [-h] [-w] path…")
        screen.keys("Right", "End", "C-e", "M-f")
        screen.type("x")
        self.wait_line(screen, 0, "statx")

    def test_the_newest_line_of_the_history(self):
        for keys in (["Right"], ["End"], ["C-e"], ["C-f"]):
            with self.subTest(keys):
                screen = self.start()
                self.run_line(screen, "ls /", 0)
                self.run_line(screen, "ls -s /", 1)
                screen.type("ls -")
                self.wait_line(screen, 2, "ls -", "s /")
                screen.keys(*keys)
                self.wait_line(screen, 2, "ls -s /", " [path…]")
                screen.close()

    def test_a_line_that_was_a_mistake_is_not_suggested(self):
        screen = self.start()
        self.run_line(screen, "create /right x", 0)
        self.run_line(screen, "stat /right", 1)
        self.run_line(screen, "stat /wrong", 2)
        self.run_line(screen, "pwd", 3)
        screen.type("stat /")
        self.wait_line(screen, 4, "stat /", "right")
        screen.keys("C-u")
        screen.close()
        # Nor in a later shell.
        screen = self.start()
        for number in range(4):
            self.run_line(screen, "pwd", number)
        screen.type("stat /")
        self.wait_line(screen, 4, "stat /", "right")
        screen.keys("C-u")
        # Once it goes well, it is.
        self.run_line(screen, "create /wrong x", 4)
        self.run_line(screen, "stat /wrong", 5)
        screen.type("stat /")
        self.wait_line(screen, 6, "stat /", "wrong")

    def test_a_word_of_it(self):
        screen = self.start()
        self.run_line(screen, "sync /none/of-these", 0)
        screen.type("sync /")
        self.wait_line(screen, 1, "sync /", "none/of-these")
        screen.keys("M-f")
        self.wait_line(screen, 1, "sync /none", "/of-these")
        screen.keys("M-f", "Right")
        self.wait_line(screen, 1, "sync /none/of-these")

    def test_only_at_the_end_of_the_line(self):
        screen = self.start()
        screen.type("stat")
        self.wait_line(screen, 0, "stat", " [-h] [-w] path…")
        screen.keys("Left")
        screen.wait_for(lambda s: s.lines()[-1] == self.prompt(0) + " stat")
        screen.keys("Right")
        self.wait_line(screen, 0, "stat", " [-h] [-w] path…")

    def test_nothing_is_left_behind(self):
        for keys, last in ((["Enter"], 1), (["C-c"], 0)):
            with self.subTest(keys):
                screen = self.start()
                screen.type("create")
                screen.wait_for(lambda s: "path [data]" in s.text())
                screen.keys(*keys)
                screen.wait_for(lambda s: s.lines()[-1].startswith(self.prompt(last)[:-1]) and
                                s.lines()[-1].endswith("]") and " 0] create" not in s.lines()[-1])
                typed = next(line for line in screen.lines() if " 0] create" in line)
                self.assertEqual(typed, self.prompt(0) + " create" + ("^C" if keys == ["C-c"] else ""))
                screen.close()

    def test_nothing_is_left_behind_by_a_stop(self):
        screen = self.shell_screen(f"{ZKSH} -s {self.connect}", width=100, NO_COLOR="")
        self.wait_prompt(screen, 0)
        screen.type("sync ")
        self.wait_line(screen, 0, "sync ", "path")
        screen.keys("C-z")
        screen.wait_for(lambda s: s.lines()[-1].startswith("$"))
        self.assertIn(self.prompt(0) + " sync", screen.lines())

    def test_no_row_is_added(self):
        screen = self.start(width=40, height=6)
        text = "create " + "x" * (40 - len(self.prompt(0) + " create ") % 40 - 3)
        screen.type(text)
        rows = wrapped(self.prompt(0) + " " + text, 40)
        # Three columns are left in the last row: a blank, an ellipsis, and the one that stays free.
        screen.wait_for(lambda s: s.lines()[-len(rows):] == [*rows[:-1], rows[-1] + " …"])
        self.assertEqual(screen.lines(history=True)[0], "zksh 0.2.0. `help` lists the commands;")

    def test_switched_off(self):
        for how in ("NO_COLOR=1", "TERM=dumb"):
            with self.subTest(how):
                screen = self.screen_of(["env", how, ZKSH, "-s", self.connect], width=100, NO_COLOR="")
                self.wait_prompt(screen, 0)
                screen.type("gte set")
                self.wait_line(screen, 0, "gte set")
                self.assertEqual(self.style_of(screen, "gte"), "")
                screen.close()
        screen = self.start()
        self.run_line(screen, "conf hints off", 0)
        screen.type("set")
        self.wait_line(screen, 1, "set")
        self.assertIn("1m", self.style_of(screen, "set"))
        screen.keys("C-u")
        self.run_line(screen, "conf highlight off", 1)
        screen.type("set")
        self.wait_line(screen, 2, "set")
        self.assertEqual(self.style_of(screen, "set"), "")


class Colours(HintTest):
    def test_what_is_typed(self):
        screen = self.start()
        screen.type("cre")
        self.wait_line(screen, 0, "cre")
        self.assertEqual(self.style_of(screen, "cre"), "")
        screen.type("ate -s '/a b")
        screen.wait_for(lambda s: "'/a b" in s.lines()[-1])
        self.assertIn("1m", self.style_of(screen, "create"))
        self.assertIn("36m", self.style_of(screen, "-s"))
        self.assertIn("33m", self.style_of(screen, "'/a b"))
        screen.keys("C-u")
        screen.type("gte /a")
        self.wait_line(screen, 0, "gte /a")
        self.assertIn("31m", self.style_of(screen, "gte"))


class Events(HintTest):
    """News print above the line, which stays as it is, whatever is on it."""

    def burst(self, screen, typed, left=0, hint=""):
        self.run_line(screen, "addWatch /", 0)
        screen.type(typed)
        for _ in range(left):
            screen.keys("Left")
        rows = wrapped(self.prompt(1) + " " + typed + hint, 40)
        before = wrapped(self.prompt(1) + " " + typed[:len(typed) - left], 40)

        def shown(s):
            lines = s.lines()
            cursor = columns(before[-1]), len(lines) - len(rows) + len(before) - 1
            return lines[-len(rows):] == rows and s.cursor() == cursor
        screen.wait_for(shown)
        for number in range(200):
            self.znodes.create(f"{self.root}/n{number}")
        screen.wait_for(lambda s: "/n199" in s.text(joined=True).replace("\n", "") and shown(s))
        news = "\n".join(screen.lines(history=True, joined=True))
        for number in range(200):
            self.assertEqual(news.count(f"/n{number}") - sum(
                news.count(f"/n{number}{digit}") for digit in range(10)), 1, number)

    def setUp(self):
        super().setUp()
        self.screen = self.start(width=40, height=30)

    def test_with_a_hint(self):
        # The prompt takes more than a row: what is left of the second one is the hint's.
        self.burst(self.screen, "set", hint=self.hint_of("set"))

    def hint_of(self, typed):
        """What fits of the hint behind a short line, in the row where the line ends."""
        syntax = " [-s] [-v version] [--if-value value] [-b] [--null] path [data]"
        used = len(self.prompt(1) + " " + typed) % 40
        room = 39 - used
        return syntax if len(syntax) <= room else syntax[:room - 1] + "…"

    def test_wrapped_with_wide_characters(self):
        self.burst(self.screen, "set /größe '漢字漢字漢字漢字漢字漢字漢字漢字漢字 äöü ÄÖÜ ß — 漢字漢字漢字漢字'")

    def test_with_the_cursor_in_the_middle(self):
        self.burst(self.screen, "set /größe '漢字漢字漢字漢字漢字漢字漢字漢字漢字 äöü ÄÖÜ'", left=17)


if __name__ == "__main__":
    unittest.main()
