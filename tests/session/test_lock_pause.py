"""If zksh is stopped or killed, the program under its lock ends in time."""
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lock_case import LossTest  # noqa: E402
from running_processes import children  # noqa: E402


class Paused(LossTest):
    def test_paused_past_its_session(self):
        holder, program = self.start_holder()
        contender = self.start_contender()
        self.stop(holder)
        self.assert_ends(contender, 0)
        self.wait_ended(program, limit=0)  # although zksh is still stopped
        self.assert_no_overlap()
        holder.send_signal(signal.SIGCONT)
        _, err = self.assert_ends(holder, 76, "(?m)^lost /l: ")
        self.assertNotIn("released", err)

    def test_paused_together_with_its_watchdog(self):
        # As when the whole machine was suspended, but for the program: nothing can stop that.
        holder, program = self.start_holder()
        (watchdog,) = children(holder.pid)
        contender = self.start_contender()
        self.stop(holder)  # first: it would go on with a stopped watchdog
        os.kill(watchdog, signal.SIGSTOP)
        self.assert_ends(contender, 0)
        before = len(self.stamps("holder"))
        self.wait_until(lambda: len(self.stamps("holder")) > before)
        holder.send_signal(signal.SIGCONT)
        _, err = self.assert_ends(holder, 76, "SIGKILL to pid", "(?m)^lost /l: ")
        self.assertNotIn("SIGTERM", err)
        self.wait_ended(program, limit=0)

    def test_killed(self):
        holder, program = self.start_holder()
        contender = self.start_contender()
        holder.kill()
        self.wait_ended(program)
        self.assert_ends(contender, 0)
        self.assert_no_overlap()


if __name__ == "__main__":
    unittest.main()
