#!/usr/bin/python3
"""Tells which tests failed and why, from ctest's --output-junit, since it is hard to find in the output of two thousand tests.

    failures.py reasons RESULTS            each failed test with the last lines of its output; the exit
                                           status is the number of failed tests, at most 100
    failures.py table RESULTS…             what ever failed in several runs, and in which; 1 if anything did
    failures.py note RECORD RESULTS…       keeps in a file which tests have failed in these runs, each until
                                           it has passed ten times in a row
    failures.py recorded RECORD RESULTS    those that failed now and are in that file; 1 if there are any
"""
import collections
import os
import pathlib
import sys
import xml.etree.ElementTree

LINES = 12
PASSES = 10  # in a row, and a failure is forgotten


def outcomes(path):
    """Of each test that ran: its name, whether it failed, and its output."""
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.get("status") in ("run", "fail"):
            yield case.get("name"), case.get("status") == "fail", case.findtext("system-out") or ""


def failed(path):
    return [name for name, has_failed, _ in outcomes(path) if has_failed]


def reasons(results):
    number = 0
    for name, has_failed, output in outcomes(results):
        if has_failed:
            number += 1
            lines = [line.rstrip() for line in output.splitlines() if line.strip()]
            print(f"-- {name} failed; its last lines:", *lines[-LINES:], sep="\n   ")
    return min(number, 100)


def table(*results):
    runs = collections.defaultdict(list)
    for path in results:
        for name in failed(path):
            runs[name].append(pathlib.Path(path).stem)
    for name, those in sorted(runs.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"{len(those):4} of {len(results)}  {name}  (run {', '.join(those)})")
    if not runs:
        print(f"   nothing failed in {len(results)} runs")
    return bool(runs)


def read(record):
    """How often each test has passed since it failed."""
    if not os.path.exists(record):
        return {}
    return {name: int(passed) for name, passed in map(str.split, pathlib.Path(record).read_text(encoding="utf-8").splitlines())}


def note(record, *results):
    passes = read(record)
    for path in results:
        for name, has_failed, _ in outcomes(path):
            if has_failed:
                passes[name] = 0
            elif name in passes:
                passes[name] += 1
                if passes[name] == PASSES:
                    del passes[name]
    pathlib.Path(record).write_text("".join(f"{name} {passed}\n" for name, passed in sorted(passes.items())), encoding="utf-8")


def recorded(record, results):
    passes = read(record)
    names = [name for name in failed(results) if name in passes]
    print(*names, sep="\n", end="\n" if names else "")
    return bool(names)


if __name__ == "__main__":
    sys.exit({"reasons": reasons, "table": table, "note": note, "recorded": recorded}[sys.argv[1]](*sys.argv[2:]))
