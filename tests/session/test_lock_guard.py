"""Guarded writes: of a shell that holds, or has lost, a lock with --guard."""
import signal
import unittest

from lock_case import LockTest
from server import needs

# What the servers refuse, and what is not even sent since the loss is known.
LOST = "the lock /l is lost; this write was refused and changed nothing\n|set was not run: /l is lost "


class Guard(LockTest):
    def setUp(self):
        super().setUp()
        self.znodes.create(self.root + "/data", b"old")

    def data(self):
        return self.znodes.get(self.root + "/data")

    def holder(self, *options):
        """zksh reading lines, which holds the lock."""
        process = self.start(*options, bufsize=0)
        self.send(process, b"lock --guard /l\n")
        self.wait_said(process, "acquired /l ")
        return process

    def test_writes_while_it_is_held(self):
        lines = ("lock --guard /l; create /data/n x; set /data/n y; get /data/n; delete /data/n; "
                 "create -s /data/s- x; deleteall /data; unlock")
        status, out, err = self.run_zksh("-c", lines)
        self.assertEqual((status, out), (0, "y\n"), err)
        self.assertIn("Created /data/s-0000000001\n", err)
        self.assertFalse(self.znodes.exists(self.root + "/data"))

    def test_nothing_is_written_once_it_is_lost(self):
        for write in ("set /data new", "create /data/n x", "delete /data", "deleteall /data",
                      "setquota -n 9 /data"):
            process = self.holder()
            self.take_away()
            self.send(process, write.encode() + b"\n")
            self.assert_ends(process, 76)
            self.assertEqual((self.data(), self.znodes.children(self.root + "/data")), (b"old", []))

    def pause_past_the_session(self):
        process = self.holder("--timeout", "1s")
        self.stop(process)
        self.wait_contenders(0)
        return process

    def test_written_before_the_loss_is_known(self):
        process = self.pause_past_the_session()
        self.send(process, b"set /data stale\n")
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        # 10: it was sent over the connection that then broke; no server has done it.
        self.assertIn(process.returncode, (76, 10), err)
        self.assertEqual(self.data(), b"old")

    def test_written_after_the_session_has_expired(self):
        process = self.pause_past_the_session()
        process.send_signal(signal.SIGCONT)
        self.wait_said(process, "session expired")
        self.send(process, b"set /data stale\n")
        self.assert_ends(process, 76, LOST)
        self.assertEqual(self.data(), b"old")

    def test_writes_go_through_again_when_the_loss_was_acknowledged(self):
        process = self.holder("--keep-going")
        self.take_away()
        self.send(process, b"set /data refused\nunlock\nset /data new\n")
        self.assert_ends(process, 76, LOST)
        self.assertEqual(self.data(), b"new")

    def test_another_lock_of_the_shell_guards_nothing(self):
        """Its loss keeps a script from going on, until it is confirmed."""
        process = self.holder("--keep-going")
        self.send(process, b"lock /other\n")
        self.wait_said(process, "acquired /other ")
        self.take_away("/other")
        self.wait_said(process, "lost /other")
        self.send(process, b"set /data refused\nunlock /other\nset /data new\n")
        self.assert_ends(process, 76, "set was not run: /other is lost ")
        self.assertEqual(self.data(), b"new")

    @needs(3, 5)  # containers
    def test_what_cannot_be_guarded_is_refused(self):
        for line, what in (("setAcl /data world:anyone:ra", "setAcl"),
                           ("setAcl -R /data world:anyone:ra", "setAcl"),
                           ("create -c /data/c x", "creating a container"),
                           ("create -t 1000 /data/t x", "creating a node with a TTL")):
            status, _, err = self.run_zksh("-c", f"lock --guard /l; {line}")
            self.assertEqual(status, 2, err)
            self.assertIn(f"{what} cannot be part of a transaction, so the lock /l (--guard) cannot protect it; "
                          "nothing was sent. Release the lock first\n", err)


if __name__ == "__main__":
    unittest.main()
