"""Runs a program on its own terminal and reads the raw bytes, including control sequences."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time


class Terminal:
    """Runs a program on a new pty. `with` ends it. The terminal changes no byte and, without `echo`, echoes none."""

    def __init__(self, words, env, columns=200, stdout=None, echo=False):
        self.master, slave = pty.openpty()
        modes = termios.tcgetattr(slave)
        modes[1] &= ~termios.OPOST  # a carriage return in the output is the program's own
        if not echo:
            modes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self.bytes = b""
        self.process = subprocess.Popen(words, stdin=slave, stdout=stdout or slave, stderr=slave, env=env,
                                        start_new_session=True, preexec_fn=self._take_terminal)
        os.close(slave)

    @staticmethod
    def _take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def enter(self, line):
        """Types a line into an editor that shows it; returns where the bytes begin that come behind it."""
        begin = len(self.bytes)
        self.type(line)
        self.read_until(re.escape(line[-3:].encode()), begin)
        begin = len(self.bytes)
        self.type("\n")
        return self.read_until(rb"\n", begin)

    def read_until(self, pattern, start=0, seconds=60):
        """Reads until the pattern stands behind `start`; returns where it ends."""
        until = time.monotonic() + seconds
        at, longest_match = start, 1 << 16
        while not (found := re.compile(pattern).search(self.bytes, at)):
            at = max(start, len(self.bytes) - longest_match)
            if not self._read(until):
                raise AssertionError(f"no {pattern!r} in {self.bytes[start:]!r}")
        return found.end()

    def finish(self, seconds=60):
        """Reads to the end; returns all bytes."""
        until = time.monotonic() + seconds
        while self._read(until):
            pass
        self.process.wait(max(1.0, until - time.monotonic()))
        return self.bytes

    def drain(self):
        """Reads what is there, without waiting."""
        while self._read(0.0):
            pass

    def _read(self, until):
        """False: there is no more, or not in time."""
        if not select.select([self.master], [], [], max(0.0, until - time.monotonic()))[0]:
            return False
        try:
            chunk = os.read(self.master, 65536)
        except OSError:  # EIO: nobody has the terminal any more
            return False
        self.bytes += chunk
        return bool(chunk)
