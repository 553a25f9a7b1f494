"""Benchmarks walking, reading, writing and removing trees: zksh, a bare client, zkCli.sh and kazoo."""
import os
import pathlib
import sys

from contest import Contestant
from znodes import Znodes

HERE = pathlib.Path(__file__).resolve().parent
ZKCLI = "/usr/share/zookeeper/bin/zkCli.sh"


def trees(contest, server):
    """A long row of siblings, and a tree of six levels."""
    options = contest.options
    width, depth = (3, 3) if options.smoke else (10, 6) if options.million else (8, 6)
    row = 500 if options.smoke else 1_000_000 if options.million else 300_000
    for shape in (("row", 1, row), ("tree", depth, width)):
        Shape(contest, server.address, *shape).run(1 if options.smoke or options.million else options.tree_rounds)
    if not options.million:
        Peers(contest, server.address, *((2, 3) if options.smoke else (6, 5))).run()


def nodes_of(depth, width):
    """How many nodes bare_tree makes, the top included."""
    return sum(width**level for level in range(depth + 1))


class Shape:
    """One tree, and all that is done with it."""

    def __init__(self, contest, address, name, depth, width):
        self.contest, self.address, self.name = contest, address, name
        self.top, self.shape = f"/bench-{name}", [str(depth), str(width)]
        self.nodes = nodes_of(depth, width)
        self.file = os.path.join(contest.directory, f"{name}.dump")
        self.bare = {what: self.bare_contestant(what) for what in ("create", "list", "dump", "delete")}
        self.floors = {what: Contestant(f"multiRead, {what}", [contest.program("tree_floor"), address, what, self.top])
                       for what in ("list", "get")}
        self.zksh = {line: self.zksh_contestant(line) for line in
                     (f"ls -R {self.top}", f"find {self.top}", f"du {self.top}", f"dump {self.top}",
                      f"apply {self.file}", f"rm -r -y {self.top}")}

    def bare_contestant(self, what):
        words = [self.contest.program("bare_tree"), self.address, what, self.top]
        return Contestant(f"bare C client, {what}", words + (self.shape if what == "create" else []))

    def zksh_contestant(self, line):
        return Contestant(f"zksh {line.split()[0]}", [self.contest.options.zksh, "-server", self.address, "-c", line])

    def run(self, rounds):
        if not self.contest.options.million:  # where a round is long enough for the server's compiler
            self.round()
            for contestant in (*self.bare.values(), *self.floors.values(), *self.zksh.values()):
                contestant.times.clear()
        for number in range(rounds):
            self.round(number % 2 == 0)
        self.judge()

    def round(self, zksh_first=False):
        contest = self.contest
        ls, find, du, dump, apply, remove = self.zksh.values()
        contest.time(self.bare["create"])
        listing = (self.bare["list"], self.floors["list"], ls)
        for one in reversed(listing) if zksh_first else listing:
            printed = contest.time(one)
            if printed.count(b"\n") != self.nodes:
                raise SystemExit(f"{one.name} printed {printed.count(bytes([10]))} lines of {self.nodes}")
        contest.time(find)
        contest.time(du, str(self.nodes).encode())
        contest.time(self.floors["get"])
        contest.time(self.bare["dump"])
        first = contest.time(dump)
        pathlib.Path(self.file).write_bytes(first)
        contest.time(self.bare["delete"])
        contest.time(apply)
        if contest.time(dump) != first:
            raise SystemExit("a tree that was applied and dumped again is another")
        contest.time(remove)
        with Znodes(self.address) as znodes:
            if znodes.exists(self.top):
                raise SystemExit(f"rm -r left {self.top} behind")

    def judge(self):
        print(f"trees: {self.nodes} nodes in a {self.name}")
        for contestant in (*self.bare.values(), *self.floors.values(), *self.zksh.values()):
            print(f"{contestant}\n" if contestant is self.floors["get"] else str(contestant))
        ls, find, du, dump, apply, remove = self.zksh.values()
        for one, floor in ((ls, "list"), (find, "list"), (du, "get")):
            self.contest.bound(f"time of {one.name} / multiRead's {floor}", one.median / self.floors[floor].median, 2, at_most=True)
        floors = ((ls, "list", 8), (find, "list", 8), (du, "list", 4), (dump, "dump", 0.8),
                  (remove, "delete", 0.8), (apply, "create", 0.7))
        for one, floor, least in floors:
            self.contest.bound(f"rate of {one.name} / bare client's {floor}",
                               self.bare[floor].median / one.median, least, at_most=False)
        for one in (ls, find, du, dump, apply, remove):
            self.contest.bound(f"peak memory of {one.name}, MiB", one.memory, 128, at_most=True)


class Peers:
    """A smaller tree, which the others can manage."""

    def __init__(self, contest, address, depth, width):
        self.contest, self.address, self.shape = contest, address, [str(depth), str(width)]
        self.nodes = nodes_of(depth, width)

    def create(self):
        self.contest.time(Contestant("bare", [self.contest.program("bare_tree"), self.address, "create",
                                              "/bench-peers", *self.shape]))

    def run(self):
        contest, top = self.contest, "/bench-peers"
        kazoo = [sys.executable, "-B", str(HERE / "kazoo_tree.py"), self.address]
        entrants = {
            "zksh": [[contest.options.zksh, "-server", self.address, "-c", line]
                     for line in (f"ls -R {top}", f"rm -r -y {top}")],
            "kazoo": [[*kazoo, "list", top], [*kazoo, "delete", top]],
        }
        if os.access(ZKCLI, os.X_OK):
            entrants["zkCli.sh"] = [[ZKCLI, "-server", self.address, "ls", "-R", top],
                                    [ZKCLI, "-server", self.address, "deleteall", top]]
        results = {}
        for name, (listing, removal) in entrants.items():
            self.create()
            results[name] = [Contestant(f"{name}, list", listing), Contestant(f"{name}, delete", removal)]
            for contestant in results[name]:
                contest.time(contestant)
        print(f"trees: {self.nodes} nodes in a tree, whole processes")
        for pair in results.values():
            print("\n".join(map(str, pair)))
        for name in list(results)[1:]:
            for what in (0, 1):
                contest.bound(f"time of {results[name][what].name} / zksh",
                              results[name][what].median / results["zksh"][what].median, 5, at_most=False)
