"""A deadlock with a lock that waits in the background: what the prompt shows, and what ends it."""
import unittest

from shell_case import ShellTest
from waiting import comes_true


class CircleInTheBackground(ShellTest):
    def setUp(self):
        super().setUp()
        self.first = self.start(width=200)
        self.second = self.start(width=200)

    def wait_contenders(self, path, number):
        self.first.wait_for(lambda _: self.znodes.exists(self.root + path) and
                            len(self.znodes.children(self.root + path)) == number)

    def close_circle(self, first):
        """`first` is how the first one takes /x."""
        self.first.type(first + "\n")
        self.wait_contenders("/x", 1)
        self.second.type("lock /y\n")
        self.wait_contenders("/y", 1)
        self.second.type("lock /x\n")
        self.wait_contenders("/x", 2)
        self.first.type("lock /y &\n")
        self.wait_contenders("/y", 2)

    def test_is_named_and_left(self):
        self.close_circle("lock /x")
        self.first.wait_for("waiting /y: deadlock: its holder waits for /x, which this shell holds; "
                            "to give up: unlock /y, or unlock /x")
        self.first.type("locks\n")
        self.first.wait_for("/y    deadlock: its holder waits for /x, which this shell holds")
        self.first.type("unlock /x\n")
        self.second.wait_for("acquired /x")
        self.second.type("unlock --all\n")
        self.first.wait_for("acquired /y")

    def open_circle(self):
        """`locks` names it as long as it is one."""
        self.close_circle("lock /x")
        self.first.wait_for("waiting /y: deadlock")
        self.first.type("unlock /x\n")
        self.second.wait_for("acquired /x")

        def is_open(screen):
            """It is looked for anew a moment after the lock has gone."""
            screen.type("locks -o json | grep waits\n")
            return comes_true(lambda: '"circle":null' in screen.text(joined=True), 5)
        self.first.wait_for(is_open)

    def test_is_no_longer_named_when_its_lock_is_gone(self):
        self.open_circle()

    def test_is_no_longer_named_when_another_lock_is_still_held(self):
        self.first.type("lock /z\n")
        self.wait_contenders("/z", 1)
        self.open_circle()

    def test_a_program_under_a_lock_ends_by_itself(self):
        go = self.fifo("go")
        self.close_circle(f"lock /x -- cat {go} &")
        # The other one cannot know that; when it has looked, this one has, too.
        self.second.wait_for("which this shell holds")
        self.assertNotIn("deadlock", self.first.text())
        self.file("go", "")  # the end of what `cat` reads
        self.second.wait_for("acquired /x")


if __name__ == "__main__":
    unittest.main()
