"""The file that programs under locks stamp: creates it, reads it while it grows, and builds the programs' command lines."""
import os
import subprocess
import threading
import time

from stamps import Stamps

HERE = os.path.dirname(os.path.abspath(__file__))
# What the shell does beside it, in the words of a shell: $@ is the stamper.
SHELLS = {
    "background": '"$@" & exit 0',  # a background child outlives its shell
    "timeout": 'timeout 100 "$@"; true',  # timeout(1) makes a group of its own
    "jobs": 'set -m; "$@" & wait; true',  # each job has a group of its own
}
IN_A_SHELL = {"background": "stubborn", "timeout": "plain", "jobs": "stubborn"}
DIRECT = ("plain", "tidy")  # the kernel's death signal reaches them, and ends them
STAMPERS = ("plain", "tidy", "stubborn", "group", "session", "daemon", "stubborn-daemon", "child")
PROGRAMS = (*STAMPERS, *SHELLS)


def boot_time():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def build_stamper(directory):
    """Compiles it; its path."""
    program = os.path.join(directory, "stamper")
    subprocess.run(["cc", "-O2", "-o", program, os.path.join(HERE, "stamper.c")], check=True)
    return program


class LockLedger:
    """Thread-safe. Removing it ends all programs that stamp it."""

    def __init__(self, directory, stamper):
        self.path = os.path.join(directory, "ledger")
        self.stamper = stamper
        self.stamps = Stamps()
        self.violations = []
        self.lock = threading.RLock()
        self._end = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self._file = open(self.path, encoding="ascii")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.unlink(self.path)
        os.close(self._end)
        self._file.close()

    def program(self, who, seconds, kind, claims):
        """The words of a program that stamps for so long."""
        words = [self.stamper, self.path, who, str(int(seconds * 1000)), IN_A_SHELL.get(kind, kind), *claims]
        return ["/bin/bash", "-c", SHELLS[kind], "bash", *words] if kind in SHELLS else words

    def abandon(self, who):
        """From here on nobody is left who could end its program."""
        os.write(self._end, f"{boot_time()} A {who}\n".encode())

    def read(self):
        """What has been written by now. Raises Forged."""
        with self.lock:
            self.stamps.feed(self._file.read())
            return self.stamps

    def hold(self, who):
        """What it has stamped by now; None before it came."""
        with self.lock:
            return self.read().holds.get(who)

    def works(self, who, within=0.3):
        """Whether it has stamped just now."""
        hold = self.hold(who)
        return hold is not None and hold.times[-1] >= boot_time() - within * 1e9

    def inside(self, within=0.05):
        with self.lock:
            return self.read().inside(boot_time() - int(within * 1e9))
