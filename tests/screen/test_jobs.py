"""Commands around commands: what runs in the background, a stop of zksh, timing, repeat."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from shell_case import ShellTest  # noqa: E402


class Stop(ShellTest):
    def test_a_stop_warns_of_held_locks(self):
        screen, _ = self.start_below_sh(job_control=True)
        screen.type("lock /l\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith("1 locked /l]"))
        screen.keys("C-z")
        screen.wait_for(lambda s: s.lines()[-1] == "$" and "while zksh is stopped" in s.text())
        warning = [line for line in screen.lines() if line.startswith("warning: ")]
        self.assertRegex(warning[0],
                         r"^warning: locked /l; while zksh is stopped, that lasts for \d+ s at most$")
        screen.type("fg\n")
        screen.wait_for(lambda s: s.lines()[-1].startswith("[zk: "))


class Timing(ShellTest):
    def test_the_time_comes_behind_the_output(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "timing on", 0), [])
        shown = self.run_line(screen, "ls /", 1)
        self.assertEqual(shown[0], "[]")
        self.assertRegex(shown[1], r"^time: \d+\.\d ms$")
        self.assertEqual(self.run_line(screen, "timing off", 2), [])
        self.assertEqual(self.run_line(screen, "ls /", 3), ["[]"])


if __name__ == "__main__":
    unittest.main()
