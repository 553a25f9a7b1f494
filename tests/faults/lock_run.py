"""The long run for locks: many contenders for many locks, on ensembles whose links fail."""
import collections
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster  # noqa: E402
from lock_contenders import KINDS, MANY, Contender  # noqa: E402
from lock_faults import LockFaults  # noqa: E402
from lock_ledger import LockLedger, build_stamper  # noqa: E402
from network import Network  # noqa: E402
from server import ServerError  # noqa: E402
from stamps import Forged  # noqa: E402
from world import LOST, ZKSH, World  # noqa: E402
from znodes import Znodes  # noqa: E402

# Tick (ms) and syncLimit: followers and leader take each other's silence for 1, 2.5, 3, 4, 5, 6 and 10 s; sessions
# last for 4, 6 and 10 s on each.
ENSEMBLES = ((500, 2), (500, 5), (1000, 3), (2000, 2), (1000, 5), (2000, 3), (2000, 5))
SHOWN = 50  # violations
LOST_LOCKS, STRUCK, RELEASED = "lost (status 76)", "struck (its processes)", "given back"


class LockWorld(World):
    """Of one ensemble."""

    def __init__(self, seed, number, directory, cluster, ledger):
        super().__init__(f"{seed}/{number}", directory, cluster.near, cluster.far, ledger)
        self.common_seed = seed
        self.statuses = {}  # who → the status of its zksh
        self.struck = {}  # who → the fault of its processes

    def common_random(self, name):
        """The same for all ensembles of a run."""
        return random.Random(f"{self.common_seed}/{name}")

    def held(self, hold, kind, program, ended):
        self.statuses[hold.who] = ended.status
        self.count(f"holds: {kind}" + (f", {hold_mode(hold)}" if hold_mode(hold) in ("read", "write") else ""))
        self.count(f"programs: {program}")
        self.count("locks lost while held", ended.status == LOST)

    def end_of(self, hold):
        """How an older holder's lock came to the next."""
        if self.statuses.get(hold.who) == LOST:
            return LOST_LOCKS
        return STRUCK if hold.who in self.struck else RELEASED


def hold_mode(hold):
    return next(iter(hold.claims.values())).mode


class Result:
    """Of all ensembles until now."""

    def __init__(self):
        self.holds = 0
        self.figures, self.faults, self.victims = collections.Counter(), collections.Counter(), collections.Counter()
        self.nearest = {}
        self.overlaps = []
        self.violations = []

    def add(self, world, stamps, faults):
        self.holds += len(stamps.holds)
        self.figures.update(world.figures)
        self.figures["stamps"] += sum(len(hold.lines) for hold in stamps.holds.values())
        self.figures["stamps of programs that nobody was left to end"] += sum(
            hold.late for hold in stamps.holds.values())
        self.faults.update(faults.counts)
        self.victims.update(faults.victims)
        for distance in stamps.distances():
            end = world.end_of(distance.older)
            self.figures[f"handovers from a lock that was {end}"] += 1
            if end not in self.nearest or distance.nanoseconds < self.nearest[end].nanoseconds:
                self.nearest[end] = distance

    def show(self):
        rows = [("holds", self.holds), *sorted(item for item in self.figures.items() if item[0][:6] != "status")]
        rows += [("faults", sum(self.faults.values()))]
        rows += [(f"  {kind}" + (f" (holders: {self.victims[kind]})" if kind in self.victims else ""), count)
                 for kind, count in sorted(self.faults.items())]
        rows += sorted(item for item in self.figures.items() if item[0][:6] == "status")
        rows += [(f"nearest after a lock that was {end}", one) for end, one in sorted(self.nearest.items())]
        rows += [("overlaps", len(self.overlaps)), ("other violations", len(self.violations))]
        for name, count in rows:
            print(f"| {name} | {count} |")


def contenders(world, cluster, programs):
    return [Contender(world, cluster, f"{kind.name.replace(' ', '-').replace(',', '')}-{i}", kind, programs)
            for kind in KINDS for i in range(kind.contenders)]


def on_ensemble(seed, number, holds, until, programs, directory, stamper, result, is_last):
    """Until there were so many holds, or a time (monotonic); adds to the result."""
    tick, sync_limit = ENSEMBLES[number]
    with LockLedger(directory, stamper) as ledger, Network() as network, \
            Cluster(network, tick, sync_limit) as cluster:
        with Znodes(cluster.servers[0].address) as znodes:
            znodes.create("/l")
        world = LockWorld(seed, number, directory, cluster, ledger)
        faults = LockFaults(world, cluster, (number, len(ENSEMBLES)))
        actors = contenders(world, cluster, programs)
        for actor in actors:
            actor.start()
        try:
            while not world.violations and len(ledger.read().holds) < holds and time.monotonic() < until:
                faults.strike_next()
            missing = [kind for kind in faults.kinds if not result.faults[kind] + faults.counts[kind]]
            for kind in missing if is_last else ():
                faults.strike(kind)
            world.stop(actors, MANY + 20)
        except (ServerError, Forged) as error:
            world.violate(f"{type(error).__name__}: {error}")
        finally:
            end_all(world)
        stamps = ledger.read()
        judge(world, stamps, result)
        result.add(world, stamps, faults)
        if world.violations or result.overlaps:
            show_schedule(world, number, ledger, result)


def end_all(world):
    world.stopping.set()
    for attempt in world.attempts():
        attempt.struck = attempt.struck or "killed"
        attempt.process.kill()


def judge(world, stamps, result):
    try:
        stamps.finish()
    except Forged as error:
        world.violate(f"the ledger: {error}")
    for overlap in stamps.overlaps():
        result.overlaps.append(describe(world, overlap))
    for text in stamps.stale_tokens():
        world.violate(text)
    result.violations += world.violations


def describe(world, overlap):
    return f"{overlap}; " + "; ".join(
        f"{one.who}: {world.struck.get(one.who, 'not struck')}, status {world.statuses.get(one.who)}, "
        f"{one.first / 1e9:.3f} to {one.times[-1] / 1e9:.3f}" for one in overlap.holds)


def show_schedule(world, number, ledger, result):
    kept = os.path.join(tempfile.gettempdir(), f"zksh-locks-{world.common_seed}-{number}.ledger")
    shutil.copy(ledger.path, kept)
    shift = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    for when, text in world.timeline:
        print(f"{when + shift:12.3f} {text}")
    for text in [*result.violations, *map("overlap: {}".format, result.overlaps)][:SHOWN]:
        print(f"VIOLATED: {text}")
    print(f"the ledger: {kept}; again: tests/faults/run.py --locks --seed {world.common_seed} --only {number}",
          flush=True)


def run_locks(seed, holds, minutes, only, programs):
    """Whether nothing was violated. Ends after the first ensemble on which something was. `minutes`: no more
    faults after them, however many holds there were; 0: no limit."""
    numbers = [only] if only is not None else range(len(ENSEMBLES))
    share = -(-holds // len(ENSEMBLES))
    result, begin = Result(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="zksh-locks-") as top:
        stamper = build_stamper(top)
        for number in numbers:
            directory = os.path.join(top, str(number))
            os.mkdir(directory)
            is_last = only is None and number == len(ENSEMBLES) - 1
            part = (number + 1) / len(ENSEMBLES) if only is None else 1
            until = begin + minutes * 60 * part if minutes else float("inf")
            on_ensemble(seed, number, share, until, programs, directory, stamper, result, is_last)
            tick, limit = ENSEMBLES[number]
            print(f"ensemble {number} (tick {tick} ms, syncLimit {limit}): {result.holds} holds by now, "
                  f"{len(result.overlaps)} overlaps, {time.monotonic() - begin:.0f} s", flush=True)
            if result.overlaps or result.violations:
                break
        result.show()
    print(f"seed {seed}, {ZKSH}, {time.monotonic() - begin:.0f} s")
    return not (result.overlaps or result.violations)
