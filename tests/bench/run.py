#!/usr/bin/python3
"""Runs zksh and its peers side by side, interleaved in one run, and prints the ratios between them.

README.md beside this file says how to read them. The status is 1 when a bound is missed.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from server import Server  # noqa: E402
from znodes import Znodes  # noqa: E402

ZKCLI = "/usr/share/zookeeper/bin/zkCli.sh"


class Contestant:
    """A program that is timed: its wall times in ms and its peak memory in MiB."""

    def __init__(self, name, words):
        self.name = name
        self.words = words
        self.times = []
        self.memory = 0.0

    @property
    def median(self):
        return statistics.median(self.times)

    def __str__(self):
        ordered = sorted(self.times)
        p90 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.9))]
        return (f"  {self.name:<26}{self.median:9.2f} ms median{ordered[0]:9.2f} min{p90:9.2f} p90"
                f"{self.memory:8.1f} MiB peak   n={len(ordered)}")


class Bench:
    def __init__(self, options, server, directory):
        self.options = options
        self.server = server
        self.directory = directory
        self.missed = []
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("ZKSH")},
                            "HOME": directory, "XDG_STATE_HOME": directory, "LC_ALL": "C.UTF-8"}

    def program(self, name):
        return str(pathlib.Path(self.options.programs) / name)

    def time(self, contestant, expected=None):
        """Runs it once. Raises when it fails, or prints something else than expected."""
        readable, writable = os.pipe()
        with open(os.path.join(self.directory, "output"), "w+b") as output:
            process = subprocess.Popen(
                ["/bin/sh", "-c", f'exec "$0" "$@" 3>&{writable}', self.program("stopwatch"),
                 *contestant.words],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
                pass_fds=(writable,), env=self.environment)
            os.close(writable)
            complaint = process.communicate()[1].decode(errors="replace")
            with os.fdopen(readable) as report:
                wall, _, memory, status = map(int, report.read().split() or (0, 0, 0, 126))
            output.seek(0)
            printed = output.read()
        if status or (expected is not None and expected not in printed):
            raise SystemExit(f"{shlex.join(contestant.words)}: status {status}, printed "
                             f"{printed[:200]!r}\n{complaint}")
        contestant.times.append(wall / 1000)
        contestant.memory = max(contestant.memory, memory / 1024)
        return printed

    def bound(self, text, value, limit, at_most):
        met = value <= limit if at_most else value >= limit
        if not met:
            self.missed.append(text)
        sign = "≤" if at_most else "≥"
        print(f"  {text:<52}{value:9.2f}   {sign} {limit:g}   {'met' if met else 'MISSED'}")

    def get(self):
        """One value: the time from the program's start to its end."""
        rounds = self.options.rounds
        value = b"a value of ordinary length"
        with Znodes(self.server.address) as znodes:
            znodes.create("/bench-get", value)
        address = self.server.address
        zksh = Contestant("zksh -c 'get /a'", [self.options.zksh, "-server", address, "-c",
                                               "get /bench-get"])
        bare = Contestant("bare C client", [self.program("bare_get"), address, "/bench-get"])
        zkcli = Contestant("zkCli.sh get /a", [ZKCLI, "-server", address, "get", "/bench-get"])
        for contestant in (bare, zksh):  # the server's and the kernel's caches
            self.time(contestant, value)
            contestant.times.clear()
        for number in range(rounds):
            order = (bare, zksh) if number % 2 else (zksh, bare)
            for contestant in order:
                self.time(contestant, value + b"\n")
            if number % 5 == 0 and os.access(ZKCLI, os.X_OK):
                self.time(zkcli, value)
        print("get: connect, read one value, close")
        print("\n".join(str(c) for c in (bare, zksh, zkcli) if c.times))
        self.bound("time of zksh / bare client", zksh.median / bare.median, 1.25, at_most=True)
        print(f"  {'the same of the fastest runs of each':<52}{min(zksh.times) / min(bare.times):9.2f}")
        if zkcli.times:
            self.bound("time of zkCli.sh / zksh", zkcli.median / zksh.median, 60, at_most=False)
        self.bound("peak memory of zksh, MiB", zksh.memory, 12, at_most=True)

    def tree(self):
        """Many nodes under one parent: listing and removing them."""
        count, address = self.options.nodes, self.server.address
        zksh_ls = Contestant("zksh -c 'ls /big'", [self.options.zksh, "-server", address, "-c", "ls /big"])
        zksh_rmr = Contestant("zksh -c 'rmr /big'", [self.options.zksh, "-server", address, "-c", "rmr /big"])
        bare = {what: Contestant(f"bare C client, {what}", [self.program("bare_multi"), address, what, "/big"])
                for what in ("create", "list", "delete")}
        bare["create"].words.append(str(count))
        for number in range(self.options.tree_rounds + 1):
            for remove in ((zksh_rmr, bare["delete"]) if number % 2 else (bare["delete"], zksh_rmr)):
                self.time(bare["create"])
                listings = [self.time(contestant) for contestant in (bare["list"], zksh_ls)]
                if listings[0] != listings[1] or listings[0].count(b"node-") != count:
                    raise SystemExit(f"ls printed {listings[1][:200]!r}… instead of {listings[0][:200]!r}…")
                self.time(remove)
                with Znodes(address) as znodes:
                    if znodes.exists("/big"):
                        raise SystemExit(f"{shlex.join(remove.words)} left /big behind")
            if number == 0:  # the server's compiler needs a round
                for contestant in (zksh_ls, zksh_rmr, *bare.values()):
                    contestant.times.clear()
        print(f"tree: {count} nodes under one parent")
        for contestant in (bare["create"], bare["list"], zksh_ls, bare["delete"], zksh_rmr):
            print(contestant)
        print(f"  {'removed per second, bare':<52}{count / bare['delete'].median * 1000:9.0f}")
        print(f"  {'removed per second, zksh':<52}{count / zksh_rmr.median * 1000:9.0f}")
        self.bound("rate of rmr / bare client", bare["delete"].median / zksh_rmr.median, 0.5, at_most=False)
        self.bound("peak memory of zksh ls, MiB", zksh_ls.memory, 64, at_most=True)
        self.bound("peak memory of zksh rmr, MiB", zksh_rmr.memory, 64, at_most=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    build = HERE.parents[1] / "build"
    parser.add_argument("--zksh", default=os.environ.get("ZKSH", build / "zksh"))
    parser.add_argument("--programs", default=build / "tests", help="where bare_get and the others are")
    parser.add_argument("--rounds", type=int, default=60, help="of get; zkCli.sh runs in every fifth")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--tree-rounds", type=int, default=5)
    parser.add_argument("--smoke", action="store_true",
                        help="tiny numbers: does the bench itself work? Bounds are not judged")
    parser.add_argument("benches", nargs="*", metavar="get|tree", default=["get", "tree"])
    options = parser.parse_args()
    options.zksh = str(pathlib.Path(options.zksh).resolve())
    if options.smoke:
        options.rounds, options.nodes, options.tree_rounds = 3, 2500, 1
    return options


def main():
    options = parse_arguments()
    directory = tempfile.mkdtemp(prefix="zksh-bench-")
    try:
        # The server's optimising compiler is left on: it is part of what operators run.
        with Server(quick_start=False) as server:
            bench = Bench(options, server, directory)
            for name in options.benches:
                {"get": bench.get, "tree": bench.tree}[name]()
    finally:
        shutil.rmtree(directory)
    return 1 if bench.missed and not options.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
