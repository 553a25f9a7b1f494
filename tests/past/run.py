#!/usr/bin/python3
"""Compares what zksh tells of a server's files with what the server makes of them, on files of servers under load.

    tests/past/run.py --snapshots N [--moments N] [--seed N]   each snapshot, at several moments: `dump --in`
    tests/past/run.py --kills N [--seed N]                     a server that is killed while it writes: `txns --check`

Needs javac. ZKSH names the program, ZOOKEEPER_HOME another server. --keep DIR keeps the files that showed something.
Status 1: something differed.
"""
import argparse
import random
import sys
import tempfile

from proof import prove_kills, prove_snapshots


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapshots", type=int, default=0)
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.randrange(1000000))
    parser.add_argument("--keep")
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    failures = []
    say = lambda text: print(text, flush=True)  # noqa: E731
    with tempfile.TemporaryDirectory(prefix="zksh-past-") as scratch:
        if args.snapshots:
            failures += prove_snapshots(scratch, args.snapshots, args.moments, args.seed, say)
        if args.kills:
            failures += prove_kills(scratch, args.kills, args.seed, say, args.keep)
    for failure in failures:
        print(failure)
    print(f"{len(failures)} differences")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
