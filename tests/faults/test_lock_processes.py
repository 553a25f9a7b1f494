#!/usr/bin/python3
"""Nothing of a program under a lock is left when another holds the lock, whatever the program has become.

Whoever of zksh, its watchdog and the program is killed or stopped.
"""
import unittest
from signal import SIGKILL, SIGSTOP

from fault_case import ServerCase
from families import Family
from lock_ledger import PROGRAMS
from network import BLOCKED, OPEN

SESSION = 4
SOME = ("plain", "stubborn", "daemon")


class Processes(ServerCase):
    """Holders are connected through a link that can be blocked."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.link = cls.network.link(cls.server.port)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.network.set, [self.link], OPEN)

    def families(self, label, programs, seconds=120):
        """Of holders that work, with contenders that wait: name → family."""
        found = {}
        for program in programs:
            for again in range(5):
                name = f"{label}-{program}-{again}".replace(" ", "-")
                process = self.hold(name, f"127.0.0.1:{self.link.port}", SESSION, program, seconds)
                self.contend(name, self.server.address)
                family = Family(process.pid, self.ledger.hold(f"{name}#old").pids)
                if family.watchdog or seconds < 120:
                    break  # else a busy machine has cost it its lock before it is struck
            self.addCleanup(family.wake)
            found[name] = family
        return found

    def strike(self, strikes, blocked=False):
        """`strikes`: label → programs, and blows (who of a family, signal). All at the same time."""
        families = {label: self.families(label, programs) for label, (programs, _) in strikes.items()}
        for label, (_, blows) in strikes.items():
            for name, family in families[label].items():
                self.assertTrue(family.watchdog, f"{name}: there is no watchdog")
                for who, number in blows:
                    family.send(who, number)
        if blocked:
            self.network.set([self.link], BLOCKED)
        self.await_verdict(*(name for some in families.values() for name in some))

    def test_the_first_process_ends(self):
        """The lock is given back when the last of its descendants has ended."""
        self.await_verdict(*self.families("leaves", PROGRAMS, seconds=2))

    def test_killed_and_stopped(self):
        """The last: the kernel's death signal ends the program itself."""
        self.strike({
            "zksh killed": (PROGRAMS, [("zksh", SIGKILL)]),
            "zksh stopped": (PROGRAMS, [("zksh", SIGSTOP)]),
            "asleep": (SOME, [("zksh", SIGSTOP), ("program", SIGSTOP)]),
            "orphaned": (SOME, [("program", SIGSTOP), ("zksh", SIGKILL)]),
            "both killed": (["plain"], [("watchdog", SIGSTOP), ("zksh", SIGSTOP), ("watchdog", SIGKILL),
                                        ("zksh", SIGKILL)]),
        })

    def test_the_servers_silent(self):
        """zksh and its watchdog do without each other."""
        self.strike({
            "silent": (PROGRAMS, []),
            "watchdog killed": (PROGRAMS, [("watchdog", SIGKILL)]),
            "watchdog stopped": (PROGRAMS, [("watchdog", SIGSTOP)]),
            "program stopped": (SOME, [("program", SIGSTOP)]),
        }, blocked=True)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
