"""Shared by all benches: bounds that are met or missed, and processes timed by stopwatch.c."""
import os
import pathlib
import shlex
import statistics
import subprocess


class Contestant:
    """A program that is timed as a whole: its wall times in ms and its peak memory in MiB."""

    def __init__(self, name, words, stdin=None):
        self.name = name
        self.words = words
        self.stdin = stdin or os.devnull
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


class Contest:
    """The options of a run, its programs, and the bounds that were missed."""

    def __init__(self, options, directory):
        self.options = options
        self.directory = directory
        self.missed = []
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("ZKSH")},
                            "HOME": directory, "XDG_STATE_HOME": directory, "LC_ALL": "C.UTF-8"}

    @property
    def peers(self):
        """Where the peers are built."""
        return pathlib.Path(self.options.programs) / "peers"

    def program(self, name):
        """One of the programs that cmake builds of this directory."""
        return str(pathlib.Path(self.options.programs) / name)

    def time(self, contestant, expected=None):
        """Runs it once. Raises when it fails, or prints something else than expected."""
        readable, writable = os.pipe()
        with open(contestant.stdin, "rb") as stdin, \
                open(os.path.join(self.directory, "output"), "w+b") as output:
            process = subprocess.Popen(
                [self.program("stopwatch"), str(writable), *contestant.words],
                stdin=stdin, stdout=output, stderr=subprocess.PIPE,
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
        """Says whether the bound is met, and remembers it when not."""
        met = value <= limit if at_most else value >= limit
        if not met:
            self.missed.append(text)
        sign = "≤" if at_most else "≥"
        print(f"  {text:<52}{value:9.2f}   {sign} {limit:g}   {'met' if met else 'MISSED'}")
