"""Benchmarks locks: zksh, other libraries and the minimum, from a free lock to a queue of a thousand."""
import pathlib
import statistics
import sys
import time

from znodes import Znodes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import peers  # noqa: E402

from server import four_letter_word  # noqa: E402

SESSION = 10  # seconds; that of the floor and the C client, too
FLOOR, CLIENT, ZKSH = "floor", "C client", "zksh"
LIBRARIES = ("curator", "kazoo", "go")
# Columns of the table: what is timed, in us.
ALONE = ("acquire", "release", "both")


class Entrant:
    """One of the programs that are compared, for a number of contenders, each with its own session."""

    def __init__(self, contest, server, name, path, contenders, hold=0.0):
        self.name = name
        self._hold_us = round(hold * 1e6)
        self._contest, self._server, self._path, self._contenders = contest, server, path, contenders
        self._program = None

    def run(self, rounds):
        """All turns with the lock in their order. Ends the bench when two had it at the same time."""
        if self._program is None or self._program.process.poll() is not None:
            self.close()
            self._program = self._start(rounds)
        self._program.tell(f"go {self._path} mutex {rounds} {self._hold_us} {self._contenders}"
                           if self.name != ZKSH else "go")
        turns = sorted(self._program.finish(deadline=600), key=lambda turn: turn.acquired)
        if len(turns) != rounds * self._contenders:
            raise SystemExit(f"{self.name}: {len(turns)} turns instead of {rounds * self._contenders}")
        if any(after.acquired < before.releasing for before, after in zip(turns, turns[1:])):
            raise SystemExit(f"{self.name}: two contenders held the lock at the same time")
        return turns

    def handoff(self, rounds):
        """The median of `handoffs`. On a busy machine a short queue may have none: then it runs again."""
        times = []
        while not times:
            times = handoffs(self.run(rounds))
        return statistics.median(times)

    def close(self):
        if self._program is not None:
            self._program.close()
            self._program = None

    def _start(self, rounds):
        count, address = self._contenders, self._server.address
        if self.name == ZKSH:
            program = peers.Program([self._contest.options.zksh, "-s", address, "-t", f"{SESSION * 1000}",
                                     "contend", self._path, "-n", count, "--rounds", rounds, "--sessions", count,
                                     "--hold", f"{self._hold_us}us", "--report"])
            program.await_ready()
            return program
        floor = self._contest.program("lock_floor")
        words = {FLOOR: [floor], CLIENT: [floor, "--client"]}.get(self.name)
        words = words or peers.command(self.name, self._contest.peers)
        return peers.Peer(words, address, self._path, "mutex", rounds, self._hold_us, count, count)


def alone(turns):
    """Medians, in us: a free lock is taken, is given back, and both."""
    return {"acquire": statistics.median(turn.acquired - turn.asked for turn in turns) / 1000,
            "release": statistics.median(turn.released - turn.releasing for turn in turns) / 1000,
            "both": statistics.median(turn.acquired - turn.asked + turn.released - turn.releasing
                                      for turn in turns) / 1000}


def handoffs(turns):
    """The times, in us, from the start of a release to the return of the next one's acquire.

    Only of turns whose contender was in line before: another one finds the lock free.
    """
    return [(after.acquired - before.releasing) / 1000 for before, after in zip(turns, turns[1:])
            if after.asked < before.releasing]


def counters(server):
    """The server's own numbers: mntr."""
    lines = (line.split("\t") for line in four_letter_word(server.port, "mntr").splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 2}


def requests_per_cycle(entrant, server, rounds):
    """Requests for one acquire and release: what more cycles cost more, since all runs begin and end alike."""
    received = []
    for count in (rounds, 2 * rounds):
        before = int(counters(server)["zk_packets_received"])
        entrant.run(count)
        entrant.close()
        received.append(int(counters(server)["zk_packets_received"]) - before)
    return (received[1] - received[0]) / rounds


class Table:
    """Medians of all entrants, one column after the other; each column's entrants take turns."""

    def __init__(self, contest, server):
        self.contest, self.server = contest, server
        self.names = (FLOOR, CLIENT, ZKSH, *LIBRARIES)
        self.queues = contest.options.queues
        self.values = {name: {} for name in self.names}

    def fill(self):
        options = self.contest.options
        self._measure(1, lambda entrant: alone(entrant.run(options.lock_rounds)))
        for count in self.queues:
            rounds = max(2, options.lock_rounds // count)
            self._measure(count, lambda entrant, count=count, rounds=rounds: {count: entrant.handoff(rounds)})
        for name in self.names:
            entrant = Entrant(self.contest, self.server, name, "/bench-requests", 1)
            entrant.run(5)  # makes what is missing
            entrant.close()
            self.values[name]["requests"] = requests_per_cycle(entrant, self.server, 50)

    def _measure(self, contenders, measure):
        entrants = [Entrant(self.contest, self.server, name, f"/bench-lock-{name.replace(' ', '-')}-{contenders}", contenders)
                    for name in self.names]
        results = {name: [] for name in self.names}
        for repeat in range(self.contest.options.lock_repeats + 1):
            for turn in range(len(entrants)):
                entrant = entrants[(repeat + turn) % len(entrants)]
                result = measure(entrant)
                if repeat > 0:  # the first one is for caches and compilers
                    results[entrant.name].append(result)
        for entrant in entrants:
            entrant.close()
        for name, all_of_one in results.items():
            for column in all_of_one[0]:
                self.values[name][column] = statistics.median(result[column] for result in all_of_one)

    def show(self):
        columns = (*ALONE, *self.queues)
        heads = [*ALONE, *(f"handoff {count}" for count in self.queues)]
        print("            " + "".join(f"{head:>17}" for head in heads) + "   requests")
        for name in self.names:
            mine, floor = self.values[name], self.values[FLOOR]
            cells = "".join(f"{mine[column]:10.0f} {mine[column] / floor[column]:5.2f}x"
                            for column in columns)
            print(f"  {name:<10}{cells}{mine['requests']:11.2f}")

    def judge(self):
        """The bounds that zksh keeps."""
        zksh, floor = self.values[ZKSH], self.values[FLOOR]
        bound = self.contest.bound
        bound("acquire and release, zksh / floor", zksh["both"] / floor["both"], 1.5, at_most=True)
        for count in self.queues:
            bound(f"handoff with {count}, zksh / floor", zksh[count] / floor[count], 1.3, at_most=True)
        for column in (*ALONE[:2], *self.queues):
            best = min(LIBRARIES, key=lambda name, column=column: self.values[name][column])
            what = column if column in ALONE else f"handoff with {column}"
            bound(f"{what}, best library ({best}) / zksh", self.values[best][column] / zksh[column], 1,
                  at_most=False)
        bound("requests of zksh for one acquire and release", zksh["requests"], 3, at_most=True)


def lock(contest, server):
    """Every entrant, with one, 2, 10 and 100 contenders."""
    warm = Entrant(contest, server, FLOOR, "/bench-warm", 1)
    warm.run(10 * contest.options.lock_rounds)  # the server's compiler
    warm.close()
    table = Table(contest, server)
    table.fill()
    print(f"lock, {server.title}: medians of {contest.options.lock_repeats} runs' medians, us, "
          "and how many times the floor's")
    table.show()
    if server.judged:
        table.judge()


def waited(contest, server):
    """Handoffs to a contender that has waited for 0.6 of the session timeout, so that zksh must prove its session anew."""
    hold = contest.options.wait * SESSION
    medians = {FLOOR: [], ZKSH: []}
    for repeat in range(contest.options.wait_repeats):
        for name in sorted(medians, reverse=repeat % 2 == 1):
            entrant = Entrant(contest, server, name, f"/bench-waited-{name}", 2, hold)
            medians[name].append(entrant.handoff(2))
            entrant.close()
    print(f"waited, {server.title}: handoff after a wait of {hold:g} s, session timeout {SESSION} s, us")
    medians = {name: statistics.median(times) for name, times in medians.items()}
    for name, median in medians.items():
        print(f"  {name:<10}{median:8.0f}")
    contest.bound("handoff after a long wait, zksh / floor", medians[ZKSH] / medians[FLOOR], 3, at_most=True)


def await_quiet(server, path):
    """What the server still has when the contenders are gone: ephemerals, watches, children of the path.

    Counters can only be asked for again and again."""
    until = time.monotonic() + 10
    while True:
        now = counters(server)
        with Znodes(server.address) as znodes:
            # The server may have deleted it, an empty container.
            contenders = len(znodes.children(path)) if znodes.exists(path) else 0
            left = (int(now["zk_ephemerals_count"]), int(now["zk_watch_count"]), contenders)
        if left == (0, 0, 0) or time.monotonic() > until:
            return left
        time.sleep(0.05)


def crowd(contest, server):
    """One lock with a thousand contenders: flat handoff, one event for a release, nothing left."""
    many, few = contest.options.crowd, 10
    times = {}
    for name in (FLOOR, ZKSH):
        times[name] = {few: [], many: []}
    events = []
    for repeat in range(contest.options.crowd_repeats):
        for name in (FLOOR, ZKSH) if repeat % 2 else (ZKSH, FLOOR):
            for count in (few, many):
                path = f"/bench-crowd-{name}-{count}"
                entrant = Entrant(contest, server, name, path, count)
                before = counters(server)
                turns = entrant.run(max(2, 1000 // count))
                after = counters(server)
                entrant.close()
                times[name][count].append(statistics.median(handoffs(turns)))
                if name == ZKSH:
                    left = await_quiet(server, path)
                    fired = sum(int(after[f"zk_sum_node_{what}_watch_count"])
                                - int(before[f"zk_sum_node_{what}_watch_count"])
                                for what in ("deleted", "created", "changed", "children"))
                    events.append((count, fired / len(turns), left))
    print(f"crowd, {server.title}: {many} contenders for one lock, handoff in us")
    medians = {name: {count: statistics.median(all_of_one) for count, all_of_one in of_name.items()}
               for name, of_name in times.items()}
    for name, of_name in medians.items():
        print(f"  {name:<10}with {few}: {of_name[few]:8.0f}   with {many}: {of_name[many]:8.0f}   "
              f"{of_name[many] / of_name[few]:5.2f}x")
    bound = contest.bound
    bound(f"handoff of zksh, {many} contenders / {few}", medians[ZKSH][many] / medians[ZKSH][few], 1.4,
          at_most=True)
    bound("watch events for one release, at most", max(fired for _, fired, _ in events), 1, at_most=True)
    for index, what in enumerate(("ephemeral znodes", "watches", "children of the lock's path")):
        bound(f"{what} left", max(left[index] for _, _, left in events), 0, at_most=True)
