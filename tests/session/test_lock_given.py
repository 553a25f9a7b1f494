"""A program under a lock: its environment, streams and descriptors."""
import contextlib
import fcntl
import os
import resource
import signal
import subprocess
import unittest

from lock_case import LockTest
from session_case import ZKSH


class Given(LockTest):
    def test_token_and_session_are_the_node_s(self):
        holder = self.lock("--", "sh", "-c",
                           "echo $ZKSH_LOCK_NODE $ZKSH_LOCK_TOKEN $ZKSH_LOCK_SESSION; exec cat")
        node, token, session = self.line(holder).split()
        stat = self.run_zksh("stat", node)[1]
        self.assertIn(f"cZxid = {int(token):#x}\n", stat)
        self.assertIn(f"ephemeralOwner = {session}\n", stat)
        holder.communicate()

    def test_what_a_program_leaves_of_its_input_is_untouched(self):
        with open(self.script("one", "two"), "rb") as file:
            self.assertEqual(self.run_lock("-q", "--", "head", "-c", "2", stdin=file)[1], "on")
            self.assertEqual(file.tell(), 2)

    def test_earlier_results_come_before_what_the_program_says(self):
        value = "v" * 100_000
        self.znodes.create(self.root + "/a", value.encode())
        zksh = self.start("-c", "get /a; " * 30 + "lock -q /l -- echo x")
        fcntl.fcntl(zksh.stdout, fcntl.F_SETPIPE_SZ, 4096)
        self.assertEqual(self.assert_ends(zksh, 0)[0], f"{value}\n" * 30 + "x\n",
                         "not in this order")

    def test_a_reader_that_takes_nothing_does_not_hold_the_lock_up(self):
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        os.set_blocking(theirs, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(theirs, b" " * 4096)
        os.set_blocking(theirs, True)
        zksh = self.lock("--", "touch", self.file("done"), stderr=theirs)
        os.close(theirs)
        self.wait_until(lambda: os.path.exists(self.file("done")))
        self.assert_free()
        self.assertEqual(self.read(ours, filled).strip(b" "), b"")
        said = self.read(ours)
        self.assertEqual(zksh.wait(60), 0)
        self.assertRegex(said, rb"\Aacquired /l [^\n]*\nreleased /l [^\n]*\n\Z")

    @staticmethod
    def read(fd, size=None):
        data = b""
        while (size is None or len(data) < size) and (more := os.read(fd, min(size or 4096, 4096))):
            data += more
        return data

    def test_descriptors_that_zksh_was_started_with_are_inherited(self):
        """As flock(1) does it. What zksh itself has opened, and what is closed on exec, is not."""
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        os.set_inheritable(theirs, True)
        out = self.run_lock("-q", "--", "sh", "-c", f"ls /proc/self/fd; echo hello >&{theirs}",
                            pass_fds=[theirs])[1]
        os.close(theirs)
        self.assertEqual(out.split(), ["0", "1", "2", *sorted(["3", str(theirs)])] if theirs != 3
                         else ["0", "1", "2", "3", "4"])  # one is ls's own
        self.assertEqual(os.read(ours, 100), b"hello\n")
        self.assertEqual(os.read(ours, 100), b"")  # nobody has kept it
        out = self.run_lock("-q", "--", "ls", "/proc/self/fd")[1]
        self.assertEqual(out.split(), ["0", "1", "2", "3"])  # the last one is ls's own

    def test_ignored_end_of_children(self):
        """Whoever starts zksh ignores SIGCHLD: statuses are told all the same."""
        process = self.lock("-q", "--", "sh", "-c", "exit 7",
                            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assert_ends(process, 7)

    def test_no_descriptor_left(self):
        for limit in range(4, 24):
            zksh = self.lock("-q", "--", "sh", "-c", "exit 7", preexec_fn=lambda most=limit:
                             resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            _, err = zksh.communicate(timeout=60)
            self.assertTrue(zksh.returncode == 7 or err, limit)
            if self.znodes.exists(self.root + "/l"):
                self.assert_free()

    def test_closed_streams(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            script = f'exec "$@" {closed}'
            done = subprocess.run(["sh", "-c", script, "sh", ZKSH, "-s", self.connect, "lock", "-q",
                                   "/l", "--", "sh", "-c", "exit 3"], timeout=60, check=False)
            self.assertEqual(done.returncode, 3, closed)
            self.assert_free()

    def test_reader_of_standard_output_that_goes_away(self):
        holder = self.lock("--", "sh", "-c", "read line; exit 9")
        self.wait_contenders(1)
        holder.stdout.close()
        holder.stdout = None
        self.send(holder, b"go\n")
        self.assert_ends(holder, 9, "^acquired /l ", "(?m)^released /l ")
        self.assert_free()

    def test_token_file(self):
        file = self.file("token", "old")
        command = f'cat {file}; echo $ZKSH_LOCK_TOKEN; ls {self.directory}'
        status, out, _ = self.run_lock("-q", "--token-file", file, "-c", command)
        first, second, *files = out.splitlines()
        self.assertEqual((status, first, files), (0, second, ["token"]))
        # It stays.
        self.assertEqual(self.text("token"), second + "\n")

    def test_token_file_that_nobody_reads(self):
        """Nothing is started behind it once the lock is lost, wanted back, or given up."""
        fifo, mark = self.fifo("fifo"), self.file("mark")
        ends = [("delete", 76), ("revoke", 143), ("signal", 143)]
        for way, status in ends:
            holder = self.lock("--token-file", fifo, "--", "touch", mark)
            self.wait_said(holder, "acquired")
            if way == "delete":
                self.take_away()
            elif way == "revoke":
                self.znodes.set(f"{self.root}/l/{self.nodes()[0]}", b"__REVOKE__")
            else:
                holder.send_signal(signal.SIGTERM)
            self.assert_ends(holder, status)
            self.assertFalse(os.path.exists(mark), way)
            self.assert_free()

    def test_token_file_that_is_read_late(self):
        fifo = self.fifo("fifo")
        holder = self.lock("--token-file", fifo, "-c", "echo $ZKSH_LOCK_TOKEN")
        self.wait_said(holder, "acquired")
        token = self.text("fifo")
        self.assertEqual(self.assert_ends(holder, 0)[0], token)

    def test_token_file_that_is_a_pipe_is_not_replaced(self):
        status, out, _ = self.run_lock("-q", "--token-file", "/dev/stdout", "-c",
                                       "echo $ZKSH_LOCK_TOKEN")
        first, second = out.splitlines()
        self.assertEqual((status, first), (0, second))


if __name__ == "__main__":
    unittest.main()
