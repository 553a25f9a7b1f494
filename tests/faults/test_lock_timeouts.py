#!/usr/bin/python3
"""A program under a lock is dead before another can hold the lock, where servers grant different session timeouts."""
import unittest

from cluster import Cluster
from fault_case import LockCase
from network import BLOCKED, OPEN, SEVERED

GRANTED, LESS = 30, 6  # seconds


class DifferentTimeouts(LockCase):
    """The first member grants less than the others."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cluster = Cluster(cls.network, tick=2000, sync_limit=5)
        cluster.servers[0].config["maxSessionTimeout"] = f"{LESS * 1000}"
        cls.cluster = cls.enterClassContext(cluster)

    def setUp(self):
        super().setUp()
        self.eventually(self.finds_members, "the members' roles")

    def finds_members(self):
        """The first member follows; it is started again if it leads."""
        strict = self.cluster.servers[0]
        if self.cluster.leader() is strict:
            strict.kill()
            self.eventually(self.cluster.leader, "another leads")
            strict._spawn()
        self.strict, self.leader = strict, self.cluster.leader()
        return self.cluster.all_serve() and self.leader and strict in self.cluster.followers()

    def test_a_session_that_moves_to_a_server_that_grants_less(self):
        """Then that server is cut off from the leader, which counts on the shorter timeout."""
        links = {server: link for server, link in zip(self.cluster.servers, self.cluster.client_links)}
        generous = next(server for server in self.cluster.servers if server not in (self.strict, self.leader))
        both = [links[generous], links[self.strict]]
        self.addCleanup(self.network.set, both, OPEN)
        self.network.set([links[self.strict]], SEVERED)
        process = self.hold("less", ",".join(f"127.0.0.1:{link.port}" for link in both), GRANTED)
        self.contend("less", self.leader.address)
        self.network.set([links[self.strict]], OPEN)
        self.network.set([links[generous]], SEVERED)
        self.eventually(lambda: "reconnected to" in self.said("less#old") or process.poll() is not None, "less#old moves")
        self.assertIsNone(process.poll(), self.said("less#old"))
        link = self.cluster.quorum_link(self.strict, self.leader)
        self.addCleanup(self.network.set, [link], OPEN)
        self.network.set([link], BLOCKED)
        self.await_verdict("less")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
