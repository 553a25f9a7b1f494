"""Transactions at the prompt: operations are counted, wrong lines refused, and dropping one is always reported."""
import unittest

from shell_case import ShellTest


class Multi(ShellTest):
    def await_multi(self, screen, number):
        screen.wait_for(lambda s: s.lines()[-1].endswith(f"] multi {number}>"))

    def collect(self, screen, *lines):
        screen.type("multi\n")
        for number, line in enumerate(lines, 1):
            self.await_multi(screen, number)
            screen.type(line + "\n")
        self.await_multi(screen, len(lines) + 1)

    def test_exec(self):
        screen = self.start()
        self.collect(screen, "create a x", "set / y")
        screen.type("exec\n")
        self.wait_prompt(screen, 4)
        self.assertEqual(screen.lines()[-3:-1], ["Created /a", "Set / (version 1)"])
        self.assertTrue(self.znodes.exists(self.root + "/a"))

    def test_a_wrong_line_is_refused_and_the_others_stay(self):
        screen = self.start()
        self.collect(screen, "create /a")
        screen.type("get /a\n")
        screen.wait_for("a transaction either reads or writes")
        self.await_multi(screen, 2)
        screen.type("create -x /b\n")
        screen.wait_for("unknown option -x")
        self.await_multi(screen, 2)
        screen.type("exec\n")
        screen.wait_for("Created /a")
        self.wait_prompt(screen, 5)

    def test_a_failure_tells_which(self):
        screen = self.start()
        self.collect(screen, "create /a", "delete /nope")
        screen.type("exec\n")
        screen.wait_for("operation 2 of 2 failed, and none was applied: Node does not exist: /nope")
        self.wait_prompt(screen, 4)
        self.assertFalse(self.znodes.exists(self.root + "/a"))

    def test_ctrl_c_drops_first_the_line_then_the_transaction(self):
        screen = self.start()
        self.collect(screen, "create /a")
        screen.type("create /b")
        screen.wait_for(lambda s: s.lines()[-1].endswith("] multi 2> create /b"))
        screen.keys("C-c")
        self.await_multi(screen, 2)
        self.assertNotIn("dropped", screen.text())
        screen.keys("C-c")
        screen.wait_for("the transaction of 1 operation was dropped; nothing was sent")
        self.wait_prompt(screen, 2)

    def test_discard(self):
        screen = self.start()
        self.collect(screen, "create /a", "create /b")
        screen.type("discard\n")
        screen.wait_for("the transaction of 2 operations was dropped; nothing was sent")
        self.wait_prompt(screen, 4)

    def test_leaving_says_that_it_is_dropped(self):
        screen = self.start()
        self.collect(screen, "create /a")
        screen.keys("C-d")
        screen.wait_for("the transaction of 1 operation was dropped; nothing was sent")
        self.wait_exit(screen, 0)


if __name__ == "__main__":
    unittest.main()
