"""Shared by the tests of locks under specific faults: holders, contenders, and the verdict."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster  # noqa: E402
from lock_ledger import LockLedger, build_stamper  # noqa: E402
from network import Network  # noqa: E402
from server import Server  # noqa: E402
from waiting import comes_true  # noqa: E402
from zksh import ZKSH  # noqa: E402

LONG = 120  # seconds: a program does not end by itself
PATIENCE = 60  # seconds, for what comes without fail
TO_DIE = 10  # seconds, for old programs to be found alive or dead


class LockCase(unittest.TestCase):
    """zksh processes with programs that stamp, on servers that a derived class starts."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="zksh-locks-"))
        stamper = build_stamper(cls.directory)
        cls.ledger = cls.enterClassContext(LockLedger(cls.directory, stamper))
        cls.network = cls.enterClassContext(Network())

    def setUp(self):
        self.running, self.started = [], []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.running:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()

    def eventually(self, state, what):
        if not comes_true(state, PATIENCE):
            said = "".join(f"\n-- {who} said:\n{self.said(who)}" for who in self.started)
            self.fail(f"not in time: {what}{said}")

    def start(self, who, server, session, words, program="stubborn", claims=(), seconds=LONG):
        """A zksh whose only server has this address, with a program that stamps."""
        with open(os.path.join(self.directory, f"{who}.err"), "wb") as err:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", ZKSH, "-s", server, "-t", f"{int(session * 1000)}",
                 *words, "--", *self.ledger.program(who, seconds, program, claims)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        self.running.append(process)
        self.started.append(who)
        return process

    def said(self, who):
        """On its standard error; nothing of one that was not started."""
        if not os.path.exists(os.path.join(self.directory, f"{who}.err")):
            return ""
        with open(os.path.join(self.directory, f"{who}.err"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def hold(self, name, server, session, program="stubborn", seconds=LONG):
        """A holder of /NAME, which works already."""
        process = self.start(f"{name}#old", server, session, ["lock", f"/{name}"], program,
                             [f"/{name}:exclusive"], seconds)
        self.eventually(lambda: self.ledger.works(f"{name}#old"), f"{name}#old works")
        return process

    def contend(self, name, server, session=10):
        """One that waits for /NAME already; its program is short."""
        process = self.start(f"{name}#new", server, session, ["lock", f"/{name}"], "plain",
                             [f"/{name}:exclusive"], seconds=0.1)
        self.eventually(lambda: "waiting" in self.said(f"{name}#new") or self.ledger.hold(f"{name}#new"),
                        f"{name}#new waits")
        return process

    def await_entry(self, who):
        self.eventually(lambda: self.ledger.hold(who), f"{who} comes")

    def await_verdict(self, *names):
        """The contenders have come, and of the old programs nothing works any more, nor did when they came."""
        for name in names:
            self.await_entry(f"{name}#new")
        survivors = set(names)

        def are_dead():
            survivors.intersection_update({name for name in survivors if self.ledger.works(f"{name}#old")})
            return not survivors

        comes_true(are_dead, TO_DIE)
        stamps = self.ledger.read()
        for distance in stamps.distances():
            if distance.older.who.partition("#")[0] in names:
                print(f"{self.id().rpartition('.')[2]}: {distance}", flush=True)
        self.assertEqual([], self.overlaps(*names), f"still alive: {sorted(survivors)}")
        self.assertFalse(survivors)

    def overlaps(self, *names):
        return [str(overlap) for overlap in self.ledger.read().overlaps()
                if overlap.holds[-1].who.partition("#")[0] in names]


class ServerCase(LockCase):
    """On one server."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(Server())


class EnsembleCase(LockCase):
    """On an ensemble whose links can fail; a follower takes its leader's silence for 10 s."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = cls.enterClassContext(Cluster(cls.network, tick=2000, sync_limit=5))

    def setUp(self):
        super().setUp()
        self.eventually(self.finds_members, "the members' roles")

    def finds_members(self):
        self.leader, followers = self.cluster.leader(), self.cluster.followers()
        if not self.leader or len(followers) != 2:
            return False
        self.follower, self.other = followers
        return True
