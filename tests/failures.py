#!/usr/bin/python3
"""Prints why tests failed, from ctest's --output-junit, since it is hard to find in the output of two thousand tests.

    failures.py JUNIT-FILE      each failed test with the last lines of its output; the exit status is
                                the number of failed tests, at most 100
"""
import sys
import xml.etree.ElementTree

LINES = 12


def failed_tests(path):
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.get("status") == "fail":
            yield case.get("name"), case.findtext("system-out") or ""


def main():
    number = 0
    for name, output in failed_tests(sys.argv[1]):
        number += 1
        lines = [line.rstrip() for line in output.splitlines() if line.strip()]
        print(f"-- {name} failed; its last lines:", *lines[-LINES:], sep="\n   ")
    return min(number, 100)


if __name__ == "__main__":
    sys.exit(main())
