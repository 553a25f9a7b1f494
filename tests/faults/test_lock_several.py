#!/usr/bin/python3
"""None of several locks, or leases, is given away while the program under them lives."""
import unittest

from fault_case import ServerCase
from znodes import Znodes

SESSION = 16


class Several(ServerCase):
    def test_one_of_several_locks_is_deleted(self):
        """By hand. It is another's at once; the others are not while the program lives."""
        self.start("several#old", self.server.address, SESSION, ["multilock", "/several-a", "/several"], "stubborn",
                   ["/several:exclusive"])
        self.eventually(lambda: self.ledger.works("several#old"), "several#old works")
        self.contend("several", self.server.address)
        self.delete_first_below("/several-a")
        self.await_verdict("several")

    def test_one_of_several_leases_is_deleted(self):
        """The other one is not given away while the program lives."""
        self.start("leases#old", self.server.address, SESSION, ["semaphore", "-Q", "2", "/leases", "2"], "stubborn",
                   ["/leases:1/2"])
        self.eventually(lambda: self.ledger.works("leases#old"), "leases#old works")
        for who in ("leases#1", "leases#2"):
            self.start(who, self.server.address, SESSION, ["semaphore", "/leases", "2"], "stubborn", ["/leases:1/2"])
            self.eventually(lambda who=who: "waiting" in self.said(who), f"{who} waits")
        self.delete_first_below("/leases/leases")
        for who in ("leases#1", "leases#2"):
            self.await_entry(who)
        self.eventually(lambda: not self.ledger.works("leases#old"), "leases#old is dead")
        self.assertEqual([], self.overlaps("leases"))

    def delete_first_below(self, path):
        with Znodes(self.server.address) as znodes:
            znodes.delete(f"{path}/{sorted(znodes.children(path))[0]}")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
