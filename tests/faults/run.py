#!/usr/bin/python3
"""Runs real zksh against an ensemble whose members fail: checks what must never happen, and reports figures.

    tests/faults/run.py [--minutes N | --seconds N] [--rounds N] [--members N] [--seed N]
    tests/faults/run.py --locks [--holds N] [--minutes N] [--seed N] [--only N] [--programs KIND,KIND…]
    tests/faults/run.py --waits [--holds N]

The second is about locks alone, on several ensembles, with links between servers that fail: README.md. The third
has no faults: locks that are waited for, on a server and an ensemble that are well.

Every kind of fault happens once at least, however short the time. The seed is printed; with --seed the same
faults and the same commands come again, as far as the machine's own time allows. Status 1: something was
violated; then the time line of faults and of the locks stands before it.
"""
import argparse
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster  # noqa: E402
from faults import Faults  # noqa: E402
from ledger import Ledger  # noqa: E402
from lock_ledger import PROGRAMS  # noqa: E402
from lock_run import run_locks  # noqa: E402
from lock_waits import play_all  # noqa: E402
from lockers import LEASES, LOCKS, SEVERAL, Guarded, Locker  # noqa: E402
from network import Network  # noqa: E402
from outcome import FAILED, OK, UNKNOWN, Book  # noqa: E402
from resource import Resource  # noqa: E402
from trees import APPLIED, GOAL, WATCHED, Applies, Changer, Hearer, Waiter, Walker, Watcher  # noqa: E402
from world import MOST, SESSION, ZKSH, World  # noqa: E402
from write_commands import SYNCED, TOP, Commands, Rounds, Servers  # noqa: E402
from writers import COUNTER, CREATED, OneShots, Scripts  # noqa: E402
from server import Server, ServerError, server_version  # noqa: E402
from waiting import comes_true  # noqa: E402
from znodes import Znodes  # noqa: E402

WAIT_SESSIONS, AT_ONCE = (4, 30), 70  # seconds; how many holds at once
SHOWN = 120  # the last entries of the journal
MUST_HAPPEN = ("exclusive locks taken", "read locks taken", "write locks taken", "semaphore locks taken",
               "handovers to another contender", "stale tokens refused", "programs that died under a lock",
               "writes acknowledged", "writes unknown", "commands acknowledged", "trees applied and compared", "waits for a value",
               "events of watches", "gaps told by watches", "trees walked")
# A fault rarely meets one of the few commands that write between a request and its answer.
MUST_HAPPEN_IN_LONG_RUNS = ("commands unknown",)


def load(world, cluster, resource, book, rounds):
    """All that runs beside the faults; every second one goes through the links that fail."""
    lockers = [Locker(world, f"{kind}-{i}", i % 2 == 0, resource.path, kind)
               for kind, count in (("mutex", 4), ("rwlock", 4), ("semaphore", 3), ("multilock", 3)) for i in range(count)]
    return [*lockers, Guarded(world, "guarded-0", False, book), Guarded(world, "guarded-1", True, book),
            OneShots(world, "one-shots", True, book), Scripts(world, "scripts", False, book, False),
            Scripts(world, "pipes", True, book, True), Applies(world, "applies", True),
            Changer(world, "changes", False), Waiter(world, "waits", False), Walker(world, "walks", True),
            *(Commands(world, f"commands-{i}", cluster, rounds) for i in range(5))]


def prepare(cluster, numbers):
    with Znodes(cluster.servers[0].address) as znodes:
        for path in ("/f", CREATED, WATCHED, APPLIED, TOP, SYNCED):
            znodes.create(path)
        for path in numbers:
            znodes.create(path, b"0")
        znodes.create(f"{GOAL}-waits", b"")


class Truth:
    """What the leader has, when all is over."""

    def __init__(self, cluster):
        self.znodes = Znodes(cluster.leader().address)
        self.znodes.create("/f/end")  # a write: what comes after it has seen all before

    def number(self, path):
        return int(self.znodes.get(path))

    def nodes(self, top):
        return {f"{top}/{name}": self.znodes.get(f"{top}/{name}").decode() for name in self.znodes.children(top)}

    def contenders(self):
        """The nodes of those who hold locks, or wait."""
        found = []
        places = [*LOCKS.values(), *SEVERAL, f"{LOCKS['semaphore']}/locks", f"{LOCKS['semaphore']}/leases"]
        for place in places:
            if self.znodes.exists(place):
                found += [f"{place}/{name}" for name in self.znodes.children(place)
                          if f"{place}/{name}" not in places]
        return found


def judge(world, cluster, book, rounds, watchers):
    truth = Truth(cluster)
    if not comes_true(lambda: not truth.contenders(), SESSION * 3 + 10):
        world.violate(f"lock nodes are left: {truth.contenders()}")
    numbers = {path: truth.number(path) for path in book.counters()}
    world.violations.extend(book.violations(truth.nodes(CREATED), numbers))
    world.violations.extend(rounds.violations())
    wanted = truth.nodes(WATCHED)
    for watcher in watchers:
        if not comes_true(lambda one=watcher: one.agrees(WATCHED, wanted) or not one.is_alive(), 30):
            world.violate(f"{watcher.name} tells of {watcher.below(WATCHED)}; there is {wanted}")
        watcher.stop()
        watcher.join(10)
        world.count("events of watches", watcher.events)
        world.count("gaps told by watches", watcher.gaps)
    for outcome in (OK, FAILED, UNKNOWN):
        world.count(f"writes {outcome}", book.number(outcome))


def run(seed, seconds, least, members, directory):
    """The world after it, and the faults that there were."""
    book, ledger = Book(), Ledger(LEASES)
    with Network() as network, Cluster(network, members=members) as cluster, Resource(directory, ledger) as resource:
        prepare(cluster, (COUNTER, Guarded.counter))
        world = World(seed, directory, cluster.near, cluster.far, ledger)
        watchers = [kind(world, f"{name}-{far}", far)
                    for kind, name in ((Watcher, "watch"), *([(Hearer, "hear")] if server_version() >= (3, 6) else []))
                    for far in (False, True)]
        rounds = Rounds(Servers(cluster.near))
        actors = load(world, cluster, resource, book, rounds)
        with Znodes(cluster.servers[0].address) as znodes:
            next(actor for actor in actors if isinstance(actor, Walker)).prepare(znodes)
        # A watch that cannot begin says so and ends; one that has begun goes on through everything.
        for one in watchers:
            one.start()
        if not comes_true(lambda: all(one.events for one in watchers), 30):
            world.violate("a watch does not begin")
        for one in actors:
            one.start()
        faults = Faults(world, cluster, book)
        try:
            end = time.monotonic() + seconds
            faults.deal(lambda: time.monotonic() >= end and rounds.least() >= least)
            world.stop(actors, 2 * MOST)
            world.note("all have ended")
            judge(world, cluster, book, rounds, watchers)
        except ServerError as error:
            world.violate(str(error))
        finally:
            world.stopping.set()
            for attempt in world.attempts():
                attempt.process.send_signal(signal.SIGCONT)
                attempt.struck = attempt.struck or "killed"
                attempt.process.kill()
    world.figures.update(ledger.figures)
    if not world.violations:
        wanted = MUST_HAPPEN + (MUST_HAPPEN_IN_LONG_RUNS if least > 1 or seconds >= 600 else ())
        world.violations.extend(f"never happened: {name}" for name in wanted if not world.figures[name])
    return world, faults


def show_table(world, faults, seconds):
    rows = [("faults", sum(faults.counts.values()))]
    rows += [(f"  {kind}", count) for kind, count in faults.counts.items()]
    rows += sorted(world.figures.items(), key=lambda item: (item[0].startswith("status"), item[0]))
    rows.append(("seconds", round(seconds)))
    rows.append(("violations", len(world.violations)))
    for name, count in rows:
        print(f"| {name} | {count} |")


def show_timeline(world):
    entries = list(world.timeline)
    entries += [(when, f"    {event} {lock} {who} token {token}")
                for when, event, lock, who, token in world.ledger.journal[-SHOWN:]]
    for when, text in sorted(entries):
        print(f"{when - world.begin:9.3f} {text}")


def run_waits(holds):
    problems = []
    with tempfile.TemporaryDirectory(prefix="zksh-waits-") as directory:
        with Server() as server, Network() as network, Cluster(network, tick=2000, sync_limit=5) as cluster:
            for servers in (server.address, cluster.near):
                number, found = play_all(servers, directory, WAIT_SESSIONS, -(-holds // 2), AT_ONCE)
                print(f"{servers}: {number} holds after a wait, {len(found)} of them wrong", flush=True)
                problems += found
    for text in problems:
        print(f"VIOLATED: {text}")
    sys.exit(1 if problems else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=1, help="of each command that writes, at least")
    parser.add_argument("--members", type=int, default=3, help="of the ensemble")
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 9))
    parser.add_argument("--locks", action="store_true", help="programs under locks, on several ensembles")
    parser.add_argument("--waits", action="store_true", help="locks that are waited for, without faults")
    parser.add_argument("--holds", type=int, default=2000, help="of --locks and --waits: how many at least")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="of --locks: which kinds, with commas between")
    parser.add_argument("--only", type=int, help="of --locks: on this ensemble alone, as in a run of all of them")
    args = parser.parse_args()
    print(f"seed {args.seed}: {' '.join(sys.argv)} --seed {args.seed} deals the same faults", flush=True)
    if args.locks:
        good = run_locks(args.seed, args.holds, args.minutes, args.only, args.programs.split(","))
        sys.stdout.flush()
        os._exit(0 if good else 1)
    if args.waits:
        return run_waits(args.holds)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="zksh-faults-") as directory:
        world, faults = run(args.seed, args.minutes * 60 + args.seconds, args.rounds, args.members, directory)
    if world.violations:
        show_timeline(world)
    show_table(world, faults, time.monotonic() - begin)
    for text in world.violations:
        print(f"VIOLATED: {text}")
    print(f"seed {args.seed}, {ZKSH}")
    sys.stdout.flush()
    # Threads that hang keep nobody.
    os._exit(1 if world.violations else 0)


if __name__ == "__main__":
    threading.excepthook = lambda failure: None  # actors tell it by themselves
    main()
