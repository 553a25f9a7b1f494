"""The processes of a zksh that holds a lock: itself, its watchdog, its program; and signals to any of them."""
import os
import signal

WATCHDOG = "lock-watchdog"


def _read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", encoding="ascii", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def descendants(pid):
    """All that descends from a process, as far as nobody between has ended; those who have ended are not among them."""
    below = {}
    for name in os.listdir("/proc"):
        stat = _read(name, "stat").rpartition(")")[2].split() if name.isdigit() else []
        if stat and stat[0] not in "ZX":
            below.setdefault(int(stat[1]), []).append(int(name))
    found, left = [], [pid]
    while left:
        next_ones = below.get(left.pop(), [])
        found += next_ones
        left += next_ones
    return found


class Family:
    """Of a zksh and of the processes that have stamped under its lock."""

    def __init__(self, zksh, stampers=()):
        below = descendants(zksh)
        self.zksh = {zksh}
        self.watchdog = {pid for pid in below if _read(pid, "comm").strip() == WATCHDOG}
        self.program = {*below, *stampers} - self.watchdog
        self.stopped = []

    def send(self, who, number):
        """To 'zksh', 'watchdog' or 'program'."""
        for pid in sorted(getattr(self, who)):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
            if number == signal.SIGSTOP:
                self.stopped.append(pid)

    def wake(self):
        for pid in self.stopped:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self.stopped.clear()
