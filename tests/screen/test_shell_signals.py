"""Signals to the interactive zksh: at its prompt, and while a program runs under a lock."""
import os
import signal
import sys
import time
import unittest

from shell_case import ShellTest

# Says what it gets, and ends at a line on its input.
PROGRAM = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
    signal.signal(number, lambda number, frame: os.write(1, (signal.Signals(number).name + os.linesep).encode()))
print("ready", flush=True)
sys.stdin.readline()
"""


class ShellSignals(ShellTest):
    def start_program(self):
        """zksh with a program under a lock in its foreground."""
        screen = self.start()
        screen.type(f"lock /l -- {sys.executable} -S {self.file('program', PROGRAM)}\n")
        screen.wait_for(lambda s: "ready" in s.lines() and s.cursor()[0] == 0)
        return screen

    def held(self):
        return len(self.znodes.children(self.root + "/l")) == 1

    def test_at_the_prompt(self):
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            screen = self.start()
            self.run_line(screen, "create -e /mine x", 0)
            os.kill(screen.pid(), number)
            self.wait_exit(screen, 128 + number)
            self.wait_gone("/mine")

    def test_stopped_by_others_the_line_is_drawn_anew(self):
        screen, zksh = self.start_below_sh(job_control=True)
        screen.type("get /no")
        self.wait_prompt(screen, 0, typed="get /no")
        os.kill(zksh, signal.SIGSTOP)
        self.wait_shell(screen)
        screen.type("fg\n")
        self.wait_prompt(screen, 0, typed="get /no")
        self.assertFalse(screen.echoes())
        self.assertEqual(self.run_line(screen, "ne", 0), ["Node does not exist: /none"])
        screen.keys("C-z")
        self.wait_shell(screen)
        screen.type("fg\n")
        self.wait_prompt(screen, 1)
        self.assertEqual(sum(row.startswith(self.prompt(1)) for row in screen.lines()), 2, "before and after")

    def test_quit_is_nothing_at_the_prompt(self):
        screen = self.start()
        screen.type("get /no")
        self.wait_prompt(screen, 0, typed="get /no")
        os.kill(screen.pid(), signal.SIGQUIT)
        self.assertEqual(self.run_line(screen, "ne", 0), ["Node does not exist: /none"])

    def test_a_program_takes_them_and_the_shell_goes_on(self):
        screen = self.start_program()
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
            os.kill(screen.pid(), number)
            screen.wait_for("\n" + signal.Signals(number).name)
        screen.type("\n")
        screen.wait_for(lambda s: s.lines()[-1] == self.prompt(1))

    def test_the_shell_ends_after_the_program_however_long_that_takes(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            screen = self.start_program()
            os.kill(screen.pid(), number)
            screen.wait_for("\n" + signal.Signals(number).name)
            # Longer than zksh, which is to end now, waits for anything but a program.
            begin = time.monotonic()
            while number == signal.SIGTERM and time.monotonic() - begin < 6.5:
                self.assertIsNone(screen.exit_status())
                time.sleep(0.1)
            self.assertTrue(self.held())
            screen.type("\n")
            self.wait_exit(screen, 128 + number)
            self.assertTrue(self.znodes.await_children(self.root + "/l", 0, 20))


if __name__ == "__main__":
    unittest.main()
