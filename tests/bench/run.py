#!/usr/bin/python3
"""Runs zksh and its peers side by side, interleaved in one run, and prints the ratios between them.

README.md beside this file says how to read them. With --check the status is 1 when a bound is missed.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import keys  # noqa: E402
import locks  # noqa: E402
import past  # noqa: E402
import peers  # noqa: E402
import processes  # noqa: E402
import trees  # noqa: E402
from contest import Contest  # noqa: E402
from server import Server  # noqa: E402

BENCHES = {"get": processes.get, "tree": processes.tree, "trees": trees.trees, "pipe": processes.pipe,
           "process": processes.process, "lock": locks.lock, "waited": locks.waited, "crowd": locks.crowd, "keys": keys.keys,
           "past": past.past}


class Ground(Server):
    """A server that the contest takes place on. Its optimising compiler is left on, as operators run it."""

    def __init__(self, syncs):
        super().__init__(quick_start=False, jvm_flags=[f"-Dzookeeper.forceSync={'yes' if syncs else 'no'}"])
        self.judged = syncs
        self.title = "every write synced to disk" if syncs else "the server does not sync (forceSync=no)"


def grounds(bench, smoke):
    """The servers that a bench runs on, one after the other: which sync to disk."""
    if bench == "lock":
        return (True,) if smoke else (True, False)
    return (bench in ("crowd", "pipe", "waited"),)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    build = HERE.parents[1] / "build"
    parser.add_argument("--zksh", default=os.environ.get("ZKSH", build / "zksh"))
    parser.add_argument("--programs", default=build / "tests", help="where bare_get and the others are")
    parser.add_argument("--rounds", type=int, default=60, help="of get and process; zkCli.sh runs in every fifth")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--lines", type=int, default=100_000, help="of pipe")
    parser.add_argument("--pipe-rounds", type=int, default=5)
    parser.add_argument("--tree-rounds", type=int, default=5)
    parser.add_argument("--million", action="store_true", help="trees of a million nodes, once, in trees")
    parser.add_argument("--lock-rounds", type=int, default=300, help="turns with a lock in one run")
    parser.add_argument("--lock-repeats", type=int, default=7, help="runs of each entrant")
    parser.add_argument("--queues", type=int, nargs="+", default=[2, 10, 100], help="contenders for a lock")
    parser.add_argument("--crowd", type=int, default=1000, help="contenders")
    parser.add_argument("--crowd-repeats", type=int, default=4)
    parser.add_argument("--wait", type=float, default=0.6, help="before handoffs of waited, in session timeouts")
    parser.add_argument("--wait-repeats", type=int, default=5)
    parser.add_argument("--keys", type=int, default=2000, help="pressed in each part of keys")
    parser.add_argument("--log-mib", type=int, default=1024, help="the size of the log of past")
    parser.add_argument("--log-rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="status 1 when a bound is missed")
    parser.add_argument("--smoke", action="store_true",
                        help="tiny numbers: does the bench itself work? Bounds are not judged")
    parser.add_argument("benches", nargs="*", metavar="|".join(BENCHES), default=list(BENCHES))
    options = parser.parse_args()
    if unknown := set(options.benches) - set(BENCHES):
        parser.error(f"no such bench: {' '.join(sorted(unknown))}")
    options.zksh = str(pathlib.Path(options.zksh).resolve())
    if options.smoke:
        options.rounds, options.nodes, options.tree_rounds = 3, 2500, 1
        options.lines, options.pipe_rounds = 1000, 1
        options.lock_rounds, options.lock_repeats, options.queues = 4, 1, [2, 5]
        options.crowd, options.crowd_repeats = 20, 1
        options.wait, options.wait_repeats = 0.01, 1
        options.keys = 30
        options.log_mib, options.log_rounds = 1, 1
    return options


def main():
    options = parse_arguments()
    directory = tempfile.mkdtemp(prefix="zksh-bench-")
    # As it is when it is installed: README.md says why the linker's output would not do.
    options.zksh = shutil.copy(options.zksh, os.path.join(directory, "zksh"))
    contest = Contest(options, directory)
    try:
        if "lock" in options.benches:
            peers.build(contest.peers)
        for name in options.benches:
            for syncs in grounds(name, options.smoke):
                with Ground(syncs) as server:
                    BENCHES[name](contest, server)
                print(flush=True)
    finally:
        shutil.rmtree(directory)
    return 1 if contest.missed and options.check and not options.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
