"""Questions to the user at the terminal: passwords without echo, and the terminal afterwards."""
import os
import signal
import unittest

from shell_case import ZKSH, ShellTest, children

PROMPT = "Password of ann:"


class Questions(ShellTest):
    def asked(self, screen):
        screen.wait_for(lambda s: s.lines()[-1] == PROMPT and s.cursor()[0] == len(PROMPT) + 1)

    def test_the_password_is_asked_for_unseen(self):
        screen = self.start()
        screen.type("addauth digest ann\n")
        self.asked(screen)
        self.assertFalse(screen.echoes())
        screen.type("secret\n")
        self.wait_prompt(screen, 1)
        self.run_line(screen, "create /a x auth::cdrwa", 1)
        self.assertIn("digest:ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=:cdrwa",
                      self.run_line(screen, "getAcl /a", 2))
        self.assertNotIn("secret", screen.text(history=True))

    def test_the_user_is_asked_for_seen(self):
        screen = self.start()
        screen.type("addauth digest\n")
        screen.wait_for(lambda s: s.lines()[-1] == "User:" and s.cursor()[0] == 6)
        self.assertTrue(screen.echoes())
        screen.type("ann\n")
        self.asked(screen)
        screen.type("secret\n")
        self.wait_prompt(screen, 1)
        self.assertIn("digest: ann", self.run_line(screen, "whoami", 1))

    def test_a_new_password_is_asked_for_twice(self):
        screen = self.start()
        for again, number, printed in (("other", 1, ["the two passwords differ; nothing was written"]), ("secret", 2, [])):
            screen.type("create /a x digest:ann::cdrwa\n")
            screen.wait_for(lambda s: s.lines()[-1] == "New password of ann:")
            screen.type("secret\n")
            screen.wait_for(lambda s: s.lines()[-1] == "The same again:")
            screen.type(again + "\n")
            self.wait_prompt(screen, number)
            self.assertEqual([line for line in screen.lines() if "differ" in line], printed[:1] or
                             ["the two passwords differ; nothing was written"])
        self.assertTrue(self.znodes.exists(self.root + "/a"))

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
        self.wait_shell(screen)
        self.assertTrue(screen.echoes())
        screen.type("fg\n")
        self.asked(screen)
        self.assertFalse(screen.echoes())
        screen.type("secret\n")
        self.wait_prompt(screen, 1)

    def test_output_of_others_comes_above_the_question(self):
        """With what was typed already, which counts."""
        self.znodes.create(self.root + "/w")
        for name in ("", "/a", "/b"):
            self.znodes.create(self.root + "/gone" + name)
        screen = self.start()
        self.run_line(screen, "watch /w &", 0)
        self.wait_watched("/w")
        question = "Delete them? [y/N]"
        screen.type("deleteall /gone\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith(question))
        asked = screen.lines()[-1]
        screen.type("ye")
        screen.wait_for(asked + " ye")
        for version in ("0 → 1", "1 → 2"):
            self.znodes.set(self.root + "/w", b"x")
            screen.wait_for("/w  version " + version)
            screen.wait_for(lambda s: s.lines()[-1] == asked + " ye")
        self.assertEqual(screen.text(history=True).count(question), 1)
        self.assertTrue(screen.echoes())
        screen.type("s\n")
        self.wait_prompt(screen, 2)
        self.assertIn(asked + " yes", screen.lines())
        self.assertFalse(self.znodes.exists(self.root + "/gone"))

    def test_a_password_stays_unseen_below_output(self):
        self.znodes.create(self.root + "/w")
        screen = self.start()
        self.run_line(screen, "watch /w &", 0)
        self.wait_watched("/w")
        screen.type("addauth digest ann\n")
        self.asked(screen)
        screen.type("sec")
        self.znodes.set(self.root + "/w", b"x")
        screen.wait_for("/w  version 0 → 1")
        self.asked(screen)
        screen.type("ret\n")
        self.wait_prompt(screen, 2)
        self.run_line(screen, "create /a x auth::cdrwa", 2)
        self.assertIn("digest:ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=:cdrwa", self.run_line(screen, "getAcl /a", 3))

    def test_a_question_is_shown_again_after_a_stop_by_others(self):
        screen, zksh = self.start_below_sh(job_control=True)
        screen.type("addauth digest ann\n")
        self.asked(screen)
        os.kill(zksh, signal.SIGSTOP)
        self.wait_shell(screen)
        screen.type("fg\n")
        self.asked(screen)
        self.assertFalse(screen.echoes())
        screen.type("secret\n")
        self.wait_prompt(screen, 1)

    def test_a_signal_restores_the_terminal(self):
        screen = self.shell_screen(f"{ZKSH} -s {self.connect} addauth digest ann; echo status $?")
        self.asked(screen)
        screen.keys("C-c")
        screen.wait_for("status 130")
        self.assertTrue(screen.echoes())
        screen.type(f"{ZKSH} -s {self.connect} addauth digest ann; echo done $?\n")
        screen.wait_for(lambda s: s.lines()[-1] == PROMPT and "status 130" in s.text())
        (zksh,) = children(screen.pid())
        os.kill(zksh, signal.SIGTERM)
        screen.wait_for("done 143")
        self.assertTrue(screen.echoes())


if __name__ == "__main__":
    unittest.main()
