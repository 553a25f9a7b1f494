#!/usr/bin/python3
"""Evaluates the stamps of programs under locks (stamper.c): overlaps, and gaps between holders.

    tests/faults/stamps.py LEDGER     status 1: two held what only one may hold, or the ledger cannot be true

Knows nothing of zksh. Beside the programs' own lines there are those of the run itself:

    NANOSECONDS A WHO     from here on nobody is left who could end its program (zksh and its watchdog
                          were killed or stopped at the same time): what it still stamps is counted apart
"""
import array
import bisect
import collections
import dataclasses
import sys

SECOND = 10 ** 9
FORGOTTEN = 120 * SECOND  # without a stamp: it is dead


class Forged(Exception):
    """A ledger that no programs can have written."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """What a program asked for on one path; `leases` 0: a lock."""
    path: str
    mode: str
    quantity: int = 0
    leases: int = 0

    @classmethod
    def parse(cls, text):
        path, _, mode = text.rpartition(":")
        if not path.startswith("/"):
            raise Forged(f"a claim without a path: {text!r}")
        if mode in ("exclusive", "write", "read"):
            return cls(path, mode)
        quantity, _, leases = mode.partition("/")
        if not (quantity.isdigit() and leases.isdigit() and 0 < int(quantity) <= int(leases)):
            raise Forged(f"a claim of no known mode: {text!r}")
        return cls(path, "semaphore", int(quantity), int(leases))

    def bears(self, other):
        """Whether two may hold it, whoever else does."""
        return self.mode == other.mode == "read"


class Hold:
    """All that one program, with all its processes, has stamped: line numbers and times."""

    def __init__(self, who, claims, tokens):
        self.who, self.claims, self.tokens = who, claims, tokens
        self.lines, self.times = array.array("q"), array.array("q")
        self.pids = set()
        self.left = set()  # the processes that have left by themselves
        self.abandoned = None  # the number of the line since when nobody can end it

    @property
    def first(self):
        return self.times[0]

    @property
    def counted(self):
        """How many of its stamps bind zksh: those before it was abandoned. Its first always does."""
        if self.abandoned is None:
            return len(self.lines)
        return max(bisect.bisect_left(self.lines, self.abandoned), 1)

    @property
    def last(self):
        return max(self.times[self.counted - 1], self.times[0])

    @property
    def late(self):
        return len(self.lines) - self.counted

    def is_beyond(self, newer):
        """Whether it still works when `newer` has come: by the order of lines, or by the clock."""
        return self.lines[self.counted - 1] > newer.lines[0] or self.last >= newer.first


@dataclasses.dataclass
class Overlap:
    path: str
    holds: list
    nanoseconds: int

    def __str__(self):
        return (f"{self.path}: {self.holds[-1].who} came while {', '.join(one.who for one in self.holds[:-1])} "
                f"still worked, for {self.nanoseconds / SECOND:.3f} s")


@dataclasses.dataclass
class Distance:
    """From the last stamp of one holder to the first of the next on a path."""
    path: str
    older: Hold
    newer: Hold

    @property
    def nanoseconds(self):
        return self.newer.first - self.older.last

    def __str__(self):
        return f"{self.nanoseconds / 1e6:.1f} ms ({self.path}: {self.older.who}, then {self.newer.who})"


class Stamps:
    """Fed with lines as they are written, or with all of them at once."""

    def __init__(self):
        self.holds = {}
        self.number = 0
        self._recent = {}
        self._clock = {}  # process → the time of its last line
        self._torn = ""

    def feed(self, text):
        """The last line may be half of one: the rest is expected in the next call."""
        lines = (self._torn + text).split("\n")
        self._torn = lines.pop()
        for line in lines:
            self.number += 1
            try:
                self._take(line.split(" "))
            except (ValueError, IndexError) as error:
                raise Forged(f"line {self.number} is none: {line!r}") from error

    def finish(self):
        if self._torn:
            raise Forged(f"the last line is torn: {self._torn!r}")
        if not self.holds:
            raise Forged("nobody has held a lock")

    def _take(self, words):
        time, event, who = int(words[0]), words[1], words[2]
        if event == "A" and len(words) == 3:
            if who in self.holds and self.holds[who].abandoned is None:
                self.holds[who].abandoned = self.number
            return
        pid = int(words[3])
        if event not in "ESX" or (event != "E" and len(words) != 4):
            raise Forged(f"line {self.number} is none: {' '.join(words)!r}")
        if self._clock.get((who, pid), 0) > time:
            raise Forged(f"{who}: the clock of process {pid} went back in line {self.number}")
        self._clock[who, pid] = time
        if event == "E":
            self._enter(who, words)
        hold = self.holds.get(who)
        if not hold:
            raise Forged(f"{who} stamps in line {self.number}, and has not come")
        if pid in hold.left:
            raise Forged(f"{who}: process {pid} stamps in line {self.number}, and had left")
        hold.lines.append(self.number)
        hold.times.append(time)
        hold.pids.add(pid)
        if event == "X":
            hold.left.add(pid)

    def _enter(self, who, words):
        if who in self.holds:
            raise Forged(f"{who} comes twice")
        claims = [Claim.parse(text) for text in words[5:]]
        if not claims or len({claim.path for claim in claims}) != len(claims):
            raise Forged(f"{who} comes for nothing, or twice for the same")
        tokens = [] if words[4] == "-" else [int(text) for text in words[4].split(",")]
        self.holds[who] = self._recent[who] = Hold(who, {claim.path: claim for claim in claims}, tokens)

    def by_path(self):
        """Of each path those who came, in their order."""
        found = collections.defaultdict(list)
        for hold in self.holds.values():  # in the order of their first lines
            for path in hold.claims:
                found[path].append(hold)
        return found

    def overlaps(self):
        return [overlap for path, holds in self.by_path().items() for overlap in self._overlaps_at(path, holds)]

    @staticmethod
    def _overlaps_at(path, holds):
        working = []
        for newer in holds:
            working = [older for older in working if older.is_beyond(newer)]
            claim = newer.claims[path]
            others = [older for older in working if not older.claims[path].bears(claim)]
            if claim.leases and all(one.claims[path].leases == claim.leases for one in others):
                taken = sum(one.claims[path].quantity for one in others) + claim.quantity
                others = others if taken > claim.leases else []
            if others:
                # Of a semaphore it is over when as many have ended as are too many: the first end is a bound.
                ends = [one.last for one in others]
                length = (min if claim.leases else max)(ends) - newer.first
                yield Overlap(path, [*others, newer], max(length, 0))
            working.append(newer)

    def stale_tokens(self):
        """Exclusive holders whose token is not greater than all before it on the path."""
        for path, holds in self.by_path().items():
            highest = 0
            for hold in holds:
                token = hold.tokens[list(hold.claims).index(path)] if len(hold.tokens) == len(hold.claims) else None
                if hold.claims[path].mode == "exclusive" and token is not None:
                    if token <= highest:
                        yield f"{path}: {hold.who} came with the token {token} after {highest}"
                    highest = max(highest, token)

    def distances(self):
        """Between each holder and the last before it that it had to wait for. Semaphores have none: who waits
        there waits for anyone."""
        for path, holds in self.by_path().items():
            last_of_all = last_writer = None
            for newer in holds:
                claim = newer.claims[path]
                if claim.leases:
                    continue
                older = last_writer if claim.mode == "read" else last_of_all
                if older:
                    yield Distance(path, older, newer)
                if not last_of_all or newer.last > last_of_all.last:
                    last_of_all = newer
                if claim.mode != "read" and (not last_writer or newer.last > last_writer.last):
                    last_writer = newer

    def inside(self, since):
        """Those who have stamped since then and have not been abandoned."""
        for who, hold in list(self._recent.items()):
            if hold.times[-1] < since - FORGOTTEN or not hold.pids - hold.left:
                del self._recent[who]
        return [hold for hold in self._recent.values() if hold.times[-1] >= since and hold.abandoned is None]


def read(name):
    stamps = Stamps()
    with open(name, encoding="ascii") as file:
        stamps.feed(file.read())
    stamps.finish()
    return stamps


def main():
    stamps = read(sys.argv[1])
    wrong = [*map(str, stamps.overlaps()), *stamps.stale_tokens()]
    nearest = min(stamps.distances(), key=lambda one: one.nanoseconds, default=None)
    print(f"{len(stamps.holds)} holds, nearest {nearest}")
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Forged as error:
        sys.exit(f"forged: {error}")
