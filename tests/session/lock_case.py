"""Shared by the tests of locks held by zksh: programs that report what they do, and views of the queue."""
import os
import re
import signal
import sys
import threading

from session_case import SessionTest
from running_processes import is_running

PYTHON = [sys.executable, "-S"]
# Writes the time, again and again; only SIGKILL ends it. Its own process id comes first.
STAMPS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "ab", buffering=0) as file:
    print(os.getpid(), flush=True)
    while True:
        file.write(b"%d\\n" % time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        time.sleep(0.001)
"""
# One time, then the end.
STAMP = """
import sys, time
with open(sys.argv[1], "ab", buffering=0) as file:
    file.write(b"%d\\n" % time.clock_gettime_ns(time.CLOCK_BOOTTIME))
"""


class LockTest(SessionTest):
    """Locks are below the test's root, at /l."""

    def lock(self, *arguments, options=(), path="/l", **how):
        """zksh with a lock command; `options` are zksh's own."""
        # Unbuffered: a line may be read before `communicate` reads the rest.
        return self.start(*options, "lock", path, *arguments, **{"bufsize": 0, **how})

    def run_lock(self, *arguments, options=(), path="/l", **how):
        return self.run_zksh(*options, "lock", path, *arguments, **how)

    def run_brief(self, *words, **how):
        """As run_zksh, of one that is not to wait for a lock, or not for long: it has a few seconds to connect, which a
        busy machine may exceed."""
        results = []

        def is_connected():
            results.append(self.run_zksh(*words, **how))
            return results[-1][0] != 3
        self.wait_until(is_connected)
        return results[-1]

    def nodes(self, path="/l"):
        """The contenders' nodes."""
        path = self.root + path
        return self.znodes.children(path) if self.znodes.exists(path) else []

    def take_away(self, path="/l"):
        """Deletes the node of the lock's holder."""
        first = min(self.nodes(path), key=lambda name: name[-10:])
        self.znodes.delete(f"{self.root}{path}/{first}")

    def wait_contenders(self, number, path="/l", limit=60):
        self.wait_until(lambda: len(self.nodes(path)) == number, limit)

    def assert_free(self, path="/l"):
        """Nothing is left of any contender, long before a session could time out."""
        self.wait_contenders(0, path, limit=15)

    def stamps(self, name):
        """The times in a file; a line that was cut off by a SIGKILL is none."""
        with open(self.file(name), "rb") as file:
            return [int(line) for line in file.read().split(b"\n")[:-1]]

    def wait_stamps(self, name):
        self.wait_until(lambda: os.path.exists(self.file(name)) and self.stamps(name))

    def wait_ended(self, *pids, limit=60):
        self.wait_until(lambda: not any(map(is_running, pids)), limit)

    def assert_ends(self, process, status, *said, timeout=60):
        """Closes the input of a zksh and waits for its end; each of `said` is a pattern of its
        stderr. Returns what it has said."""
        out, err = process.communicate(timeout=timeout)
        text = err.decode(errors="replace")
        self.assertEqual(process.returncode, status, text)
        for pattern in said:
            self.assertIsNotNone(re.search(pattern, text), f"{pattern} is not in: {text}")
        return (out or b"").decode(), text

    @staticmethod
    def line(process):
        """A line of its stdout, or of that of its program."""
        return process.stdout.readline().decode().rstrip("\n")

    def wait_said(self, process, text, limit=300):
        """Reads stderr until a line has the text in it; returns what was read. The process is killed after `limit`."""
        said = b""
        killer = threading.Timer(limit, process.kill)
        killer.start()
        try:
            while text.encode() not in said:
                line = process.stderr.readline()
                self.assertTrue(line, f"ended, or was killed, without {text!r}: {said.decode()}")
                said += line
        finally:
            killer.cancel()
        return said.decode()

    def kill_at_end(self, pid):
        """Whatever becomes of the test."""
        self.addCleanup(lambda: is_running(pid) and os.kill(pid, signal.SIGKILL))

    def stop(self, process):
        process.send_signal(signal.SIGSTOP)
        self.addCleanup(process.send_signal, signal.SIGCONT)


class LossTest(LockTest):
    """The lock is lost. The program under it ignores SIGTERM and writes the time every millisecond;
    another contender writes the time once, as soon as it holds the lock.
    """

    def start_holder(self, *arguments, options=("-t", "10000"), **how):
        """zksh, with a program that writes stamps; and that program's pid."""
        holder = self.lock(*arguments, "--", *PYTHON, "-c", STAMPS, self.file("holder"),
                           options=options, **how)
        program = int(self.line(holder))
        self.wait_stamps("holder")
        return holder, program

    def start_contender(self, number=""):
        """`number`: of the lock, where there are several; also in the names of its files."""
        path = f"/l{number}"
        self.wait_contenders(1, path)
        # Its session outlasts the holder's, whatever becomes of the server.
        contender = self.lock("--", *PYTHON, "-c", STAMP, self.file(f"contender{number}"), path=path,
                              options=["-t", "60000"])
        self.wait_contenders(2, path)
        return contender

    def assert_no_overlap(self, number=""):
        self.assertLess(self.stamps(f"holder{number}")[-1], self.stamps(f"contender{number}")[0])
