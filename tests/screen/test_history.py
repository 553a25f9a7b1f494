"""History: !!, the history file shared by several shells, and what is kept out of it."""
import os
import stat
import unittest

from shell_case import ShellTest

FILE = "state/zksh/history"


class History(ShellTest):
    def saved(self):
        """Without the marks of mistakes, which the unit tests check."""
        return [line[:-1] for line in self.text(FILE).splitlines()]

    def test_a_line_that_begins_with_an_exclamation_mark_is_an_earlier_one(self):
        screen = self.start()
        self.run_line(screen, "ls /", 0)
        self.assertEqual(self.run_line(screen, "!! | wc -c", 1),
                         ["ls / | wc -c", "0"])
        self.assertEqual(self.run_line(screen, "!0", 2), ["ls /", "[]"])
        self.assertEqual(self.run_line(screen, "history 2", 3), ["2 - ls /", "3 - history 2"])
        screen.type("!nosuch\n")
        screen.wait_for("!nosuch: no such line")
        self.wait_prompt(screen, 4)
        self.run_line(screen, "addauth digest ann:secret", 4)
        screen.type("!!\n")
        screen.wait_for("line 4 is not in the history")
        self.assertEqual(self.saved(), ["ls /", "ls / | wc -c", "ls /", "history 2"])

    def test_each_line_is_saved_at_once_for_all_shells(self):
        first, second = self.start(), self.start()
        self.run_line(first, "ls /", 0)
        self.run_line(second, "get /none", 0)
        self.run_line(first, "stat /none", 1)
        self.assertEqual(self.saved(), ["ls /", "get /none", "stat /none"])
        self.assertEqual(stat.S_IMODE(os.stat(self.file(FILE)).st_mode), 0o600)
        third = self.start()
        third.keys("Up", "Up")
        self.wait_prompt(third, 0, typed="get /none")

    def test_lines_with_a_text_of_earlier_days_too(self):
        first = self.start()
        self.run_line(first, "get /of/yesterday", 0)
        self.run_line(first, "addauth digest ann:secret", 1)
        second = self.start()
        self.run_line(second, "stat /", 0)
        self.assertEqual(self.run_line(second, "history yesterday", 1), ["get /of/yesterday", "1 - history yesterday"])
        self.assertEqual(self.run_line(second, "history secret", 2), ["2 - history secret"])

    def test_lines_of_other_shells_on_demand(self):
        first = self.start()
        self.run_line(first, "ls /", 0)
        second = self.start()
        self.run_line(second, "get /none", 0)
        self.run_line(first, "stat /mine", 1)
        self.run_line(second, "stat /none", 1)
        self.assertEqual(self.run_line(first, "history -n", 2), ["get /none", "stat /none"])
        self.assertEqual(self.run_line(first, "history -n", 3), [])
        first.keys("Up")
        self.wait_prompt(first, 4, typed="stat /none")
        first.keys("Up")
        self.wait_prompt(first, 4, typed="get /none")
        first.keys("C-e", "C-u")
        self.assertEqual(self.run_line(first, "history 1", 4), ["4 - history 1"])
        self.assertEqual(self.run_line(second, "history -n", 2),
                         ["stat /mine", "history -n", "history 1"])

    def test_a_blank_before_it_and_a_secret_keep_a_line_out(self):
        screen = self.start()
        self.run_line(screen, " create /a hidden", 0)
        self.run_line(screen, "create /b x digest:ann:topsecret=:cdrwa", 1)
        self.assertEqual(self.run_line(screen, "history", 2),
                         ["0 -", "1 - create /b x digest:ann:***:cdrwa", "2 - history"])
        self.assertEqual(self.run_line(screen, "redo 0", 3),
                         ["line 0 is not in the history (it had a secret, or began with a blank); type it",
                          "again"])
        self.assertEqual(self.saved(), ["history", "redo 0"])
        self.assertNotRegex(self.text(FILE), "hidden|topsecret")
        screen.keys("Up", "Up", "Up")
        self.wait_prompt(screen, 4, typed="create /b x digest:ann:***:cdrwa")
        screen.keys("Up")
        self.assertNotIn("hidden", screen.lines()[-1])


if __name__ == "__main__":
    unittest.main()
