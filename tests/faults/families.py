"""The processes of a zksh that holds a lock: itself, its watchdog, its program; and signals to any of them."""
import os
import signal

from dealer import signal_all
from running_processes import descendants

WATCHDOG = "watchdog"


def is_watchdog(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
            return file.read().strip() == WATCHDOG
    except (FileNotFoundError, ProcessLookupError):
        return False


class Family:
    """Of a zksh and of the processes that have stamped under its lock."""

    def __init__(self, zksh, stampers=()):
        below = descendants(zksh)
        self.zksh = {zksh}
        self.watchdog = {pid for pid in below if is_watchdog(pid)}
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
        signal_all(self.stopped, signal.SIGCONT)
        self.stopped.clear()
