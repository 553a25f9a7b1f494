"""Questions to the user at the terminal: passwords without echo, and the terminal afterwards."""
import os
import signal
import sys
import termios
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from shell_case import ShellTest, ZKSH  # noqa: E402

PROMPT = "Password of ann:"


class Questions(ShellTest):
    def echoes(self, screen):
        """Whether the terminal shows what is typed."""
        terminal = os.open(screen._format("#{pane_tty}"), os.O_RDONLY | os.O_NOCTTY)
        try:
            return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
        finally:
            os.close(terminal)

    def asked(self, screen):
        screen.wait_for(lambda s: s.lines()[-1] == PROMPT and s.cursor()[0] == len(PROMPT) + 1)

    def test_the_password_is_asked_for_unseen(self):
        screen = self.start()
        screen.type("addauth digest ann\n")
        self.asked(screen)
        self.assertFalse(self.echoes(screen))
        screen.type("secret\n")
        self.wait_prompt(screen, 1)
        self.run_line(screen, "create /a x auth::cdrwa", 1)
        self.assertIn("'digest,'ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=",
                      self.run_line(screen, "getAcl /a", 2))
        self.assertNotIn("secret", screen.text(history=True))

    def test_the_user_is_asked_for_seen(self):
        screen = self.start()
        screen.type("addauth digest\n")
        screen.wait_for(lambda s: s.lines()[-1] == "User:" and s.cursor()[0] == 6)
        self.assertTrue(self.echoes(screen))
        screen.type("ann\n")
        self.asked(screen)
        screen.type("secret\n")
        self.wait_prompt(screen, 1)
        self.assertIn("digest: ann", self.run_line(screen, "whoami", 1))

    def test_ctrl_c_and_ctrl_d_end_the_question(self):
        screen = self.start()
        for number, key in enumerate(("C-c", "C-d")):
            screen.type("addauth digest ann\n")
            self.asked(screen)
            screen.keys(key)
            self.wait_prompt(screen, number + 1)
        self.assertNotIn("digest", "\n".join(self.run_line(screen, "whoami", 2)))

    def test_a_stopped_question_gives_the_terminal_back_and_asks_again(self):
        screen, _ = self.start_below_sh(job_control=True)
        screen.type("addauth digest ann\n")
        self.asked(screen)
        screen.keys("C-z")
        screen.wait_for(lambda s: s.lines()[-1] == "$")
        self.assertTrue(self.echoes(screen))
        screen.type("fg\n")
        self.asked(screen)
        self.assertFalse(self.echoes(screen))
        screen.type("secret\n")
        self.wait_prompt(screen, 1)

    def test_a_signal_restores_the_terminal(self):
        screen = self.screen_of(["sh", "-i"])
        screen.wait_for("$")
        screen.type(f"{ZKSH} -s {self.connect} addauth digest ann; echo status $?\n")
        self.asked(screen)
        screen.keys("C-c")
        screen.wait_for("status 130")
        self.assertTrue(self.echoes(screen))
        screen.type(f"{ZKSH} -s {self.connect} addauth digest ann; echo done $?\n")
        screen.wait_for(lambda s: s.lines()[-1] == PROMPT and "status 130" in s.text())
        # The shell's only child is zksh.
        with open(f"/proc/{screen.pid()}/task/{screen.pid()}/children", encoding="ascii") as file:
            os.kill(int(file.read().split()[0]), signal.SIGTERM)
        screen.wait_for("done 143")
        self.assertTrue(self.echoes(screen))


if __name__ == "__main__":
    unittest.main()
