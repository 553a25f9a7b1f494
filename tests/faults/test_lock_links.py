#!/usr/bin/python3
"""A program under a lock is dead before another can hold the lock, while the link between two servers is frozen.

Each case is one that zksh once failed; README.md has the figures. With ZKSH_LONG=1 a session of 30 s, too.
"""
import os
import re
import time
import unittest

from fault_case import EnsembleCase
from network import BLOCKED, OPEN, REQUESTS_BLOCKED
from server import four_letter_word

SESSIONS = (4, 6, 10, 30) if os.environ.get("ZKSH_LONG") else (4, 6, 10)


class FrozenLinks(EnsembleCase):
    """Between a follower and the leader. The holders' only server is the follower, which answers reads and pings for
    syncLimit ticks more, 10 s; the contenders' is the leader."""

    def block(self, state=BLOCKED):
        link = self.cluster.quorum_link(self.follower, self.leader)
        self.network.set([link], state)
        self.addCleanup(self.network.set, [link], OPEN)
        return link

    def test_a_frozen_link(self):
        names = {f"frozen-{session}-{program}": (session, program)
                 for session in SESSIONS for program in ("plain", "stubborn")}
        for name, (session, program) in names.items():
            self.hold(name, self.follower.address, session, program)
            self.contend(name, self.leader.address)
        self.block()
        self.await_verdict(*names)

    def test_a_link_frozen_towards_the_leader(self):
        """The follower hears of everything, and the leader nothing of the follower."""
        names = {f"half-{session}": session for session in (4, 6)}
        for name, session in names.items():
            self.hold(name, self.follower.address, session)
            self.contend(name, self.leader.address)
        self.block(REQUESTS_BLOCKED)
        self.await_verdict(*names)

    def test_a_link_frozen_for_a_moment(self):
        """Costs nobody the lock."""
        self.hold("moment", self.follower.address, 30, "plain", seconds=3)
        self.contend("moment", self.leader.address)
        link = self.block()
        time.sleep(1)  # the length of the fault
        self.network.set([link], OPEN)
        self.await_verdict("moment")
        old = self.ledger.hold("moment#old")
        self.assertTrue(old.left, "the program has not come to its own end")

    def test_a_server_that_says_nothing(self):
        """A session that knows another server is there before its lock is in danger. Which of them has which
        session is not for the test to choose. The shortest leaves a busy machine two seconds for that."""
        servers = (self.follower, self.other)
        sessions = (20, 26, 32)
        holders = [f"silent-{session}#old" for session in sessions]
        for session in sessions:
            self.hold(f"silent-{session}", ",".join(server.address for server in servers), session, "plain")

        def moves():  # the locks are not even suspended if that takes no time
            return sum(self.said(who).count("reconnected to") for who in holders)

        for server in servers:
            here = re.findall("sid=0x(?!0,)", four_letter_word(server.port, "cons"))
            expected = moves() + len(here)
            server.freeze()
            self.addCleanup(server.thaw)
            self.eventually(lambda: moves() >= expected, "all that were there have moved")
            for who in holders:
                self.eventually(lambda who=who: self.ledger.works(who), f"{who} works on")
            server.thaw()
            self.eventually(lambda: self.cluster.all_serve(), "all servers answer")

    def test_a_waiter_of_a_lagging_follower(self):
        """Its turn comes by the old news that the holder has left; its own session has ended meanwhile, and
        the lock is another's."""
        holder = self.hold("lag", self.leader.address, 10, "plain")
        self.start("lag#dead", self.follower.address, 4, ["lock", "/lag"], "stubborn", ["/lag:exclusive"], seconds=5)
        self.eventually(lambda: "waiting" in self.said("lag#dead"), "lag#dead waits")
        self.start("lag#new", self.other.address, 10, ["lock", "/lag"], "stubborn", ["/lag:exclusive"], seconds=8)
        self.eventually(lambda: "waiting" in self.said("lag#new"), "lag#new waits")
        link = self.block()
        holder.terminate()
        self.eventually(lambda: not self.ledger.works("lag#old"), "the holder leaves")
        self.eventually(lambda: holder.poll() is not None, "the holder's zksh ends")
        old_news = self.network.held(link, is_answer=True)
        self.await_entry("lag#new")
        self.network.let(link, True, old_news)
        time.sleep(1)  # for so long the follower lags: the waiter has all of it to make its mistake
        self.network.set([link], OPEN)
        self.eventually(lambda: not self.ledger.works("lag#new", 2), "lag#new ends")
        self.assertEqual([], self.overlaps("lag"))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
