#!/usr/bin/python3
"""A program under a lock is dead before another can hold the lock, while the leader is frozen."""
import time
import unittest

from fault_case import EnsembleCase


class FrozenLeader(EnsembleCase):
    """SIGSTOP to the leader."""

    def freeze(self, seconds, names, session):
        for name, program in names.items():
            self.hold(name, self.follower.address, session, program)
            self.contend(name, self.other.address)
        self.leader.freeze()
        self.addCleanup(self.leader.thaw)
        time.sleep(seconds)  # the length of the fault
        self.leader.thaw()
        self.await_verdict(*names)

    def test_shorter_than_the_limit(self):
        """8 s of 10: nobody elects; the leader ends the session as soon as it wakes, before it reads that
        the session lives."""
        self.freeze(8, {"short-plain": "plain", "short-stubborn": "stubborn", "short-3": "stubborn",
                        "short-4": "stubborn"}, 4)

    def test_longer_than_the_limit(self):
        """The others elect a new leader, and the old one wakes deposed. Sessions go on with the new one."""
        for name, session in (("deposed-4", 4), ("deposed-6", 6)):
            self.hold(name, self.leader.address, session)
            self.contend(name, self.other.address)
        self.leader.freeze()
        self.addCleanup(self.leader.thaw)
        self.eventually(lambda: any(server.mode() == "leader" for server in (self.follower, self.other)),
                        "another leads")
        self.leader.thaw()
        self.await_verdict("deposed-4", "deposed-6")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
