"""Runs the program under test: feeds it line by line, and reads its output as it arrives."""
import fcntl
import os
import signal
import subprocess
import sys
import termios
import threading
import time

from server import die_with_parent


class Session:
    """A running program: its streams, read as they come, and what was expected of it so far."""

    def __init__(self, step, command, environment, directory):
        self.step = step
        self.changed = threading.Condition()
        self.data = {"stdout": b"", "stderr": b""}
        self.open = {"stdout", "stderr"}
        self.heard = time.monotonic()
        self.log = []  # (stream, bytes) in the order of arrival
        self.expected = {"stdout": [], "stderr": []}
        self.taken = {"stdout": [], "stderr": []}
        self.process = subprocess.Popen(
            ["/bin/bash", "--norc", "-c", command], cwd=directory, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, preexec_fn=die_with_parent)
        self.readers = [threading.Thread(target=self._read, args=pair, daemon=True) for pair in
                        (("stdout", self.process.stdout), ("stderr", self.process.stderr))]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, pipe):
        while True:
            chunk = os.read(pipe.fileno(), 1 << 16)
            with self.changed:
                self.heard = time.monotonic()
                if not chunk:
                    self.open.discard(stream)
                    self.changed.notify_all()
                    return
                self.data[stream] += chunk
                self.log.append((stream, chunk))
                self.changed.notify_all()

    def feed(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended early: what it printed and its status tell

    def has_unread_input(self):
        """Whether the program has left something of its input in the pipe."""
        if self.process.stdin.closed or self.process.poll() is not None:
            return False
        return int.from_bytes(fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4)), sys.byteorder) > 0

    def close_input(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def take(self, stream, deadline, exactly=None):
        """The next line of a stream (or as many bytes as `exactly` has, once they are there); None
        when there is none by the deadline."""
        def ready():
            data = self.data[stream]
            if exactly is not None and data.startswith(exactly):
                return True
            return b"\n" in data or stream not in self.open
        with self.changed:
            if not self.changed.wait_for(ready, max(0.0, deadline - time.monotonic())):
                return None
            data = self.data[stream]
            if exactly is not None and data.startswith(exactly):
                size = len(exactly)
            else:
                size = data.index(b"\n") + 1 if b"\n" in data else len(data)
            self.data[stream] = data[size:]
            return data[:size] if size else None

    def wait(self, deadline):
        """The exit status as a shell tells it; None when it still runs at the deadline."""
        try:
            status = self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None
        for reader in self.readers:  # a grandchild may keep a stream open
            reader.join(max(0.0, deadline - time.monotonic()))
        return 128 - status if status < 0 else status

    def rest(self, stream):
        with self.changed:
            lines = self.data[stream].splitlines(True)
            self.data[stream] = b""
        return lines

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
