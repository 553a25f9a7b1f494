"""A program that nobody can start until it is released, as if it were on a slow file system."""
import fcntl
import os
import signal

from waiting import wait_until


class HeldProgram:
    """Of a file that may be executed: whoever executes it waits for the end of a lease (fcntl(2), F_SETLEASE), with
    everything before the exec done. Of the main thread."""

    def __init__(self, path):
        self.awaited = False
        self.file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.before = signal.signal(signal.SIGIO, self.note)
        fcntl.fcntl(self.file, fcntl.F_SETLEASE, fcntl.F_WRLCK)

    def note(self, *_):
        self.awaited = True

    def wait_awaited(self, limit=20):
        wait_until(lambda: self.awaited, limit)

    def release(self):
        if self.file < 0:
            return
        os.close(self.file)  # ends the lease
        self.file = -1
        signal.signal(signal.SIGIO, self.before)
