#!/usr/bin/python3
"""Runs a prompt for a long time and checks that it keeps working and that its descriptors, threads and memory do not grow.

    tests/faults/long_life.py [--minutes N | --rounds N]

A zksh on a terminal holds a lock, a printed watch and jobs that watch and wait. In each round its connection is cut, its server is
killed and restarted, or it is cut off until its session expires. Then a node is set: the watch must fire, the job must report the
change, and a lost lock is acquired again. Each round stands for the minutes until the next fault of a real server, so 300 rounds are
a day with a fault every five minutes. Prints the counts; status 1: something grew, or an event was missing.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from proxy import Proxy  # noqa: E402
from server import Server  # noqa: E402
from terminal import Terminal  # noqa: E402
from waiting import comes_true  # noqa: E402
from znodes import Znodes  # noqa: E402
from zksh import ZKSH  # noqa: E402

WARM = 10  # rounds, with one of each fault, until everything that stays allocated is there
GROWTH = 4 << 10  # KiB of memory that a run may add after that, for the history and heap fragmentation
SESSION = 40  # seconds, of which a server of a busy machine needs some to start again


def counted(pid):
    """Returns descriptors, threads, KiB of memory."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        memory = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")), memory


def has_no_more(last, first):
    """Descriptors and threads, by what `counted` has returned."""
    return last[0] <= first[0] and last[1] <= first[1]


class Life:
    def __init__(self, server, proxy, terminal):
        self.server, self.proxy, self.terminal = server, proxy, terminal
        self.faults = {"cut": 0, "restart": 0, "expiry": 0}
        self.number = 0

    def begin(self):
        with Znodes(self.server.address) as znodes:
            znodes.create("/life")
            znodes.create("/life/a", b"round-0")
        self.terminal.read_until(rb"help")
        self.run("watch --data --initial /life/a &", rb"present\s+/life/a")
        self.run("wait --exists /life/never &", rb"\[2\]")
        self.run("lock -q /life/l", rb"locked /life/l\]")
        self.run("get -w /life/a", rb"round-0")

    def run(self, line, expected, seconds=60):
        begin = self.terminal.enter(line)
        return self.terminal.read_until(expected, begin, seconds)

    def strike(self, kind):
        self.faults[kind] += 1
        if kind == "restart":
            self.server.restart()
        elif kind == "cut":
            self.proxy.cut()
        else:
            begin = len(self.terminal.bytes)
            self.proxy.block()
            with Znodes(self.server.address) as znodes:
                znodes.await_children("/life/l", 0, 120)
            self.proxy.cut()
            self.terminal.read_until(rb"(?i)session[^\n]*(expired|over|new)", begin, 120)

    def round(self, kind):
        self.number += 1
        begin = len(self.terminal.bytes)
        self.strike(kind)
        if kind == "expiry":
            self.run("unlock /life/l", rb"zk: [^\n]*\) \d+( !\d+)?\]")  # confirms the loss
            self.run("lock -q /life/l", rb"locked /life/l( !\d+)?\]")
            self.run("get -w /life/a", rb"round-\d+")
        value = f"round-{self.number}"
        with Znodes(self.server.address) as znodes:
            znodes.set("/life/a", value.encode())
        # The job and the printed watch report it in any order.
        self.terminal.read_until(rb"changed\s+/life/a[^\n]*" + value.encode() + rb'"', begin, 60)
        self.terminal.read_until(rb"changed\s+/life/a\r?\n", begin, 60)
        self.run("get -w /life/a", value.encode() + rb"\r?\n")
        with Znodes(self.server.address) as znodes:
            held = znodes.children("/life/l")
        if not held:
            raise AssertionError(f"round {self.number}, {kind}: the lock is gone: {self.terminal.bytes[begin:]!r}")
        if len(self.terminal.bytes) > 1 << 20:
            self.terminal.bytes = b""


def play(rounds, minutes):
    """Prints the counts; returns what is wrong, or None."""
    until = time.monotonic() + minutes * 60 if minutes else float("inf")
    with tempfile.TemporaryDirectory() as home, Server({"tickTime": "500", "maxSessionTimeout": "60000"}) as server, Proxy(server.port) as proxy:
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "TERM": "xterm",
                       "NO_COLOR": "1"}
        with Terminal([ZKSH, "-s", proxy.address, "-t", str(SESSION * 1000)], environment) as terminal:
            life = Life(server, proxy, terminal)
            life.begin()
            pid = terminal.process.pid
            first = None
            while life.number < rounds and time.monotonic() < until:
                # Most faults are short: ten rounds have eight cuts, a restart and an expiry.
                life.round({5: "restart", 9: "expiry"}.get(life.number % 10, "cut"))
                if life.number == WARM:
                    first = counted(pid)
            first = first or counted(pid)
            # Work that a fault started may still be ending, now or then.
            comes_true(lambda: has_no_more(counted(pid), first), 60)
            last = counted(pid)
    print(f"{life.number} rounds, {', '.join(f'{count} {kind}' for kind, count in life.faults.items())}; descriptors, threads, "
          f"KiB after {WARM} rounds: {first}, at the end: {last}", flush=True)
    if not has_no_more(last, first):
        return "the number of descriptors or threads grows"
    return "memory grows" if last[2] > first[2] + GROWTH else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    wrong = play(options.rounds or (1 << 30 if options.minutes else 20), options.minutes)
    if wrong:
        print(wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
