"""Locks over slow links: held, or refused before anything is started."""
import unittest

from lock_case import LockTest
from proxy import Proxy

TIMEOUT = 16
FAR = 0.52  # each way: answers take more than a sixteenth of the session timeout
SHORT_TIMEOUT = 8
TOO_FAR = 0.4
TRIES = 3  # a connection is cut where the machine is late by a sixteenth of the session timeout, as a busy one may be


class LockDistance(LockTest):
    def far(self, delay):
        return self.enterContext(Proxy(self.server.port, delay=delay))

    def assert_never_cut(self, far):
        """One connection of a session; the others are four-letter words."""
        self.assertEqual(sum(first.startswith(b"\0") for first in far.first_bytes.values()), 1)

    def assert_in_a_try(self, check):
        """Calls a check with paths of locks, until it does not fail."""
        for number in range(TRIES - 1):
            try:
                return check(f"/l{number}")
            except AssertionError:
                pass
        return check("/l")

    def test_a_lock_is_held_far_away(self):
        def is_held(path):
            far = self.far(FAR)
            status, _, err = self.run_lock("--", "sleep", str(TIMEOUT + 1), options=["-t", f"{TIMEOUT}s"], path=path,
                                           server=far.address + self.root)
            self.assertEqual(status, 0, err)
            self.assert_never_cut(far)
        self.assert_in_a_try(is_held)

    def test_a_link_that_becomes_slower_is_not_cut(self):
        def is_not_cut(path):
            far = self.far(0.1)
            holder = self.lock("--", "cat", options=["-t", f"{TIMEOUT}s"], path=path, server=far.address + self.root)
            self.assertIn(b"acquired", holder.stderr.readline())
            for delay in (0.2, 0.3, 0.4, FAR):
                far.slow_down(delay)
                seen = far.round_trips
                self.wait_until(lambda seen=seen: far.round_trips > seen + 6)
            holder.communicate()
            self.assertEqual(holder.returncode, 0)
            self.assert_never_cut(far)
        self.assert_in_a_try(is_not_cut)

    def test_a_lock_that_could_not_be_held_is_refused(self):
        far = self.far(TOO_FAR)
        ran = self.file("ran", "")
        for words in (["lock", "/l", "--", "rm", ran], ["lock", "--detach", "/l"], ["lock", "-n", "/l"],
                      ["elect", "/l", "me", "--", "rm", ran], ["semaphore", "/l", "2", "--", "rm", ran],
                      ["contend", "/l"]):
            status, out, err = self.run_brief("-t", f"{SHORT_TIMEOUT}s", *words, server=far.address + self.root)
            self.assertEqual((status, out), (2, ""), words)
            self.assertRegex(err, r"^answers take ([89]\d\dms|1\.\d+s); a lock needs -t [12]\ds or more here, "
                                  r"and this session has 8s\n$")
        self.assertFalse(self.znodes.exists(self.root + "/l"))
        with open(ran, encoding="utf-8"):
            pass  # nothing has removed it


if __name__ == "__main__":
    unittest.main()
