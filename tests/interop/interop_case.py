"""Shared by the tests of common lock paths: a server, the other libraries' programs, zksh's contenders."""
import collections
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import peers  # noqa: E402
from server import Server, four_letter_word  # noqa: E402
from waiting import wait_until  # noqa: E402
from znodes import Znodes  # noqa: E402
from zksh import ZKSH  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(ZKSH), "tests", "peers")
DEADLINE = 200.0  # seconds; some wait for four times as long, and the whole test may take 900
HOLD_US = 150  # long enough that two holders are seen, short enough for thousands of turns
ROUNDS = 260  # of each contender

# A program's part in a contest. `ours` is None for a peer, else the words after `contend PATH`.
Part = collections.namedtuple("Part", "name kind contenders ours")
# One turn with the lock; `part` tells whose.
Turn = collections.namedtuple("Turn", "part round")


def theirs(name, kind="mutex", contenders=2):
    return Part(name, kind, contenders, None)


def zksh(mode="exclusive", compat="curator", contenders=2):
    return Part("zksh", mode, contenders, ("--mode", mode, "--compat", compat))


def shares(part):
    return part.kind.partition("+")[0] == "read"


def overlaps(turns):
    """Pairs of turns that were held at the same time, and of which one at least is exclusive."""
    found, latest = [], {}
    for turn in sorted(turns, key=lambda turn: turn.round.acquired):
        for part, other in latest.items():
            if turn.round.acquired < other.round.releasing and not (shares(part) and shares(turn.part)):
                found.append((other, turn))
        if turn.part not in latest or latest[turn.part].round.releasing < turn.round.releasing:
            latest[turn.part] = turn
    return found


def most_at_once(turns):
    """How many held it at the same time, at most."""
    changes = sorted(change for turn in turns
                     for change in ((turn.round.acquired, 1), (turn.round.releasing, -1)))
    most = held = 0
    for _, change in changes:
        held += change
        most = max(most, held)
    return most


def changes(turns):
    """How often the lock went from one program to another."""
    parts = [turn.part for turn in sorted(turns, key=lambda turn: turn.round.acquired)]
    return sum(1 for one, other in zip(parts, parts[1:]) if one != other)


class InteropTest(unittest.TestCase):
    """One server for a class; every peer program runs once, and keeps its session."""

    @classmethod
    def setUpClass(cls):
        peers.build(PROGRAMS)
        cls.server = cls.enterClassContext(Server())
        cls.running = {}
        cls.addClassCleanup(lambda: [peer.close() for peer in cls.running.values()])
        cls.paths = 0

    def setUp(self):
        self.znodes = self.enterContext(Znodes(self.server.address))

    def path(self):
        type(self).paths += 1
        return f"/lock{self.paths}"

    def contest(self, *parts, rounds=ROUNDS, hold_us=HOLD_US):
        """All parts contend for a new path; their turns, after a check that no znode is left."""
        path = self.path()
        programs, turns = [], []
        try:
            for part in parts:
                programs.append(self.started(part, path, rounds, hold_us, programs))
            for program, part in zip(programs, parts):
                program.tell("go" if part.ours else
                             f"go {path} {part.kind} {rounds} {hold_us} {part.contenders}")
            for program, part in zip(programs, parts):
                turns += [Turn(part, one) for one in program.finish(DEADLINE)]
        except peers.PeerError:
            self.forget(programs)
            raise
        finally:
            for program, part in zip(programs, parts):
                if part.ours:
                    program.close()
        self.assertEqual(len(turns), sum(rounds * part.contenders for part in parts))
        self.assertEqual(self.left(path), [], "left behind")
        return turns

    def started(self, part, path, rounds, hold_us, busy):
        """A program that is ready to take this part: a running peer that is not busy, or a new one."""
        if part.ours:
            program = peers.Program(
                [ZKSH, "-s", self.server.address, "contend", path, "-n", part.contenders, "--rounds", rounds,
                 "--hold", f"{hold_us / 1e6:.6f}", *part.ours, "--report"])
            program.await_ready()
            return program
        for number in range(len(busy) + 1):
            key = (part.name, number)
            if key not in self.running:
                words = peers.command(part.name, PROGRAMS, quick_start=True)
                self.running[key] = peers.Peer(words, self.server.address)
            if self.running[key] not in busy:
                return self.running[key]
        raise AssertionError("more programs are busy than there are")

    def forget(self, programs):
        """Ends peers that may hang; the next contest gets new ones."""
        for key, peer in list(self.running.items()):
            if peer in programs:
                peer.process.kill()
                peer.close()
                del self.running[key]

    def left(self, path):
        return self.znodes.children(path) if self.znodes.exists(path) else []

    def nodes(self, path):
        """The full paths of the nodes of those who queue up there."""
        return {f"{path}/{name}" for name in self.left(path)}

    def watchers(self, nodes):
        """The ids of the sessions that watch one of the nodes."""
        session, found = None, set()
        for line in four_letter_word(self.server.port, "wchc").splitlines():
            if not line.startswith("\t"):
                session = line
            elif line.strip() in nodes:
                found.add(session)
        return found

    def wait_until(self, condition):
        """Asks again and again: no server tells of a watch that is set, or of one that is gone."""
        wait_until(condition, DEADLINE)

    def assert_excluded(self, *parts, rounds=ROUNDS):
        """Lets all parts contend, and wants no overlap; returns their turns. Programs that came one after the
        other would prove nothing: where a busy machine made them do that, they contend again."""
        for _ in range(5):
            turns = self.contest(*parts, rounds=rounds)
            found = overlaps(turns)
            self.assertEqual(found[:3], [], f"{len(found)} overlaps in {len(turns)} acquisitions")
            if len(parts) == 1 or changes(turns) > len(turns) // 20:
                return turns
        self.fail("hardly any contention in five contests")

    def assert_some_contest(self, shows, *parts, **how):
        """`shows` is true of the turns of one of five contests: on a busy machine programs may come one after the
        other."""
        self.assertTrue(any(shows(self.contest(*parts, **how)) for _ in range(5)))
