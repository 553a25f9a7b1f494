"""A program under a lock: what it is given, how it ends, and what its status says."""
import contextlib
import fcntl
import os
import re
import resource
import signal
import subprocess
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lock_case import LockTest  # noqa: E402
from running_processes import children, is_running  # noqa: E402
from session_case import ZKSH  # noqa: E402


class Status(LockTest):
    def test_the_program_s_own(self):
        status, out, err = self.run_lock("--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual((status, out), (7, "out\n"))
        acquired, said, released = err.splitlines()
        self.assertRegex(acquired, r"^acquired /l  token=\d+  node=_c_[0-9a-f]{8}…-lock-0000000000  "
                                   r"waited=\d+\.\d{3}s$")
        self.assertEqual(said, "err")
        self.assertRegex(released, r"^released /l  held=\d+\.\d{3}s$")
        self.assert_free()

    def test_quiet(self):
        self.assertEqual(self.run_lock("-q", "--", "true"), (0, "", ""))

    def test_ended_by_a_signal(self):
        self.assertEqual(self.run_lock("-q", "--", "sh", "-c", "kill -9 $$"), (137, "", ""))
        self.assert_free()

    def test_arguments_are_not_split_again(self):
        self.assertEqual(self.run_lock("-q", "--", "printf", "[%s]", "a b", "", "$HOME;"),
                         (0, "[a b][][$HOME;]", ""))

    def test_shell_text(self):
        shell = self.script("#!/bin/sh", 'echo "$0 ${0##*/} $#"; exec sh "$@"', name="my-shell")
        os.chmod(shell, 0o755)
        with mock.patch.dict(os.environ, SHELL=shell):
            status, out, _ = self.run_lock("-q", "-c", "echo $((20 + 1)); exit 5")
        self.assertEqual((status, out), (5, f"{shell} my-shell 2\n21\n"))

    def test_shell_text_without_a_shell_in_the_environment(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("SHELL", None)
            self.assertEqual(self.run_lock("-q", "-c", "exit 5"), (5, "", ""))

    def test_busy_lock_and_a_program_that_never_starts(self):
        holder = self.lock("--", "cat")
        self.wait_contenders(1)
        mark = self.file("mark")
        self.assertEqual(self.run_lock("-n", "--", "touch", mark)[0], 75)
        self.assertEqual(self.run_lock("-w", "200ms", "--", "touch", mark)[0], 75)
        self.assertFalse(os.path.exists(mark))
        self.assertEqual(len(self.nodes()), 1)
        self.close_input(holder)
        self.assertEqual(holder.wait(20), 0)

    def test_program_that_is_missing_or_cannot_be_run(self):
        self.assertEqual(self.run_lock("--", "no-such-program"),
                         (127, "", "no-such-program: program not found\n"))
        status, _, err = self.run_lock("--", self.directory)
        self.assertEqual((status, err), (126, f"cannot run {self.directory}: it is not a file\n"))
        # Nothing was asked for: the lock's node was not made.
        self.assertFalse(self.znodes.exists(self.root + "/l"))

    def test_program_without_its_interpreter(self):
        script = self.script("#!/no/such/interpreter")
        os.chmod(script, 0o755)
        status, out, err = self.run_lock("-q", "--", script)
        self.assertEqual((status, out, err),
                         (126, "", f"cannot run {script}: its interpreter is missing\n"))
        self.assert_free()


class Given(LockTest):
    def test_environment(self):
        names = "PATH NODE TOKEN MODE SESSION DEADLINE_MS".split()
        show = "; ".join(f'echo "$ZKSH_LOCK_{name}"' for name in names)
        status, out, err = self.run_lock("--", "sh", "-c", show + "; exec cat",
                                         options=["-t", "10000"])
        self.assertEqual(status, 0)
        path, node, token, mode, session, deadline = out.splitlines()
        self.assertEqual((path, mode, deadline), ("/l", "exclusive", "9000"))
        self.assertRegex(session, "^0x[0-9a-f]+$")
        self.assertRegex(node, "^/l/_c_[0-9a-f-]{36}-lock-0000000000$")
        self.assertEqual((token, node[len("/l/"):][:11]),
                         re.search(r"token=(\d+)  node=([^…]+)", err).groups())

    def test_token_and_session_are_the_node_s(self):
        holder = self.lock("--", "sh", "-c",
                           "echo $ZKSH_LOCK_NODE $ZKSH_LOCK_TOKEN $ZKSH_LOCK_SESSION; exec cat")
        node, token, session = self.line(holder).split()
        stat = self.run_zksh("stat", node)[1]
        self.assertIn(f"cZxid = {int(token):#x}\n", stat)
        self.assertIn(f"ephemeralOwner = {session}\n", stat)
        holder.communicate()

    def test_standard_input(self):
        self.assertEqual(self.run_lock("-q", "--", "cat", text=b"hi\n"), (0, "hi\n", ""))
        # zksh has not touched what the program leaves.
        with open(self.script("one", "two"), "rb") as file:
            self.assertEqual(self.run_lock("-q", "--", "head", "-c", "2", stdin=file)[1], "on")
            self.assertEqual(file.tell(), 2)

    def test_earlier_results_come_before_what_the_program_says(self):
        value = "v" * 100_000
        self.znodes.create(self.root + "/a", value.encode())
        zksh = self.start("-c", "get /a; " * 30 + "create /mark; lock -q /l -- echo x")
        fcntl.fcntl(zksh.stdout, fcntl.F_SETPIPE_SZ, 4096)
        # Most of the values wait to be printed then.
        self.wait_until(lambda: self.znodes.exists(self.root + "/mark"))
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
        self.assertEqual(zksh.wait(20), 0)
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

    def test_no_process_left(self):
        """A program that cannot be started ends the lock, and says so."""
        if os.geteuid() != 0:
            self.skipTest("root alone is not counted by ulimit -u, and can count somebody else")
        os.chmod(self.directory, 0o755)
        zksh = self.lock("--", "true", user=65534, extra_groups=[], group=65534,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))
        self.assert_ends(zksh, 1, "the system refused")
        self.assert_free()

    def test_no_descriptor_left(self):
        for limit in range(4, 24):
            zksh = self.lock("-q", "--", "sh", "-c", "exit 7", preexec_fn=lambda most=limit:
                             resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            _, err = zksh.communicate(timeout=30)
            self.assertTrue(zksh.returncode == 7 or err, limit)
            if self.znodes.exists(self.root + "/l"):
                self.assert_free()

    def test_script_on_standard_input_stays_the_script(self):
        lines = b"lock /l -- cat\nget /a\n"
        self.znodes.create(self.root + "/a", b"value")
        status, out, _ = self.run_zksh(text=lines)
        self.assertEqual((status, "get /a" in out, "value" in out), (0, False, True))

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
        file = self.file("token")
        with open(file, "w", encoding="ascii") as old:
            old.write("old")
        command = f'cat {file}; echo $ZKSH_LOCK_TOKEN; ls {self.directory}'
        status, out, _ = self.run_lock("-q", "--token-file", file, "-c", command)
        first, second, *files = out.splitlines()
        self.assertEqual((status, first, files), (0, second, ["token"]))
        # It stays.
        with open(file, encoding="ascii") as token:
            self.assertEqual(token.read(), second + "\n")

    def test_token_file_that_cannot_be_written(self):
        mark = self.file("mark")
        status, _, err = self.run_lock("-q", "--token-file", "/no/such/directory/f", "--", "touch", mark)
        self.assertEqual((status, err), (1, "cannot write the token to /no/such/directory/f: "
                                            "No such file or directory\n"))
        self.assertFalse(os.path.exists(mark))
        self.assert_free()

    def test_token_file_that_nobody_reads(self):
        """Nothing is started behind it once the lock is lost, wanted back, or given up."""
        fifo, mark = self.file("fifo"), self.file("mark")
        os.mkfifo(fifo)
        ends = [("delete", 76), ("revoke", 143), ("signal", 143)]
        for way, status in ends:
            holder = self.lock("--token-file", fifo, "--", "touch", mark)
            self.wait_said(holder, "acquired")
            node = f"{self.root}/l/{self.nodes()[0]}"
            if way == "delete":
                self.znodes.delete(node)
            elif way == "revoke":
                self.znodes.set(node, b"__REVOKE__")
            else:
                holder.send_signal(signal.SIGTERM)
            self.assert_ends(holder, status)
            self.assertFalse(os.path.exists(mark), way)
            self.assert_free()

    def test_token_file_that_is_read_late(self):
        fifo = self.file("fifo")
        os.mkfifo(fifo)
        holder = self.lock("--token-file", fifo, "-c", "echo $ZKSH_LOCK_TOKEN")
        self.wait_said(holder, "acquired")
        with open(fifo, encoding="ascii") as file:
            token = file.read()
        self.assertEqual(self.assert_ends(holder, 0)[0], token)

    def test_token_file_that_is_a_pipe_is_not_replaced(self):
        status, out, _ = self.run_lock("-q", "--token-file", "/dev/stdout", "-c",
                                       "echo $ZKSH_LOCK_TOKEN")
        first, second = out.splitlines()
        self.assertEqual((status, first), (0, second))


class Signals(LockTest):
    def start_family(self, parent, child="sleep 1000", trap="-"):
        """A zksh whose program has a child of its own; returns that zksh and the two pids."""
        script = f"trap '{trap}' TERM; sh -c '{child}' & echo $! $$; {parent}"
        holder = self.lock("--", "sh", "-c", script)
        grandchild, program = map(int, self.line(holder).split())
        return holder, program, grandchild

    def test_term_ends_program_and_grandchildren(self):
        holder, program, grandchild = self.start_family("wait")
        holder.send_signal(signal.SIGTERM)
        self.assert_ends(holder, 143, "(?m)^released /l ")
        self.assertFalse(is_running(program) or is_running(grandchild))
        self.assert_free()

    def test_each_signal_that_would_end_zksh(self):
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number):
                holder, program, _ = self.start_family("exec sleep 1000")
                holder.send_signal(number)
                self.assert_ends(holder, 128 + number)
                self.assertFalse(is_running(program))
                self.assert_free()

    def test_the_lock_is_held_until_the_program_has_ended(self):
        holder, program, _ = self.start_family("while :; do wait; done",
                                               trap="echo asked; read line; exit 3")
        holder.send_signal(signal.SIGTERM)
        self.assertEqual(self.line(holder), "asked")
        self.assertTrue(is_running(program))
        self.assertEqual(len(self.nodes()), 1)
        self.send(holder, b"go on\n")
        self.assert_ends(holder, 3)
        self.assert_free()

    def test_the_second_term_kills(self):
        holder, program, _ = self.start_family("while :; do wait; done", trap="echo asked")
        holder.send_signal(signal.SIGTERM)
        self.assertEqual(self.line(holder), "asked")
        holder.send_signal(signal.SIGTERM)
        self.assert_ends(holder, 137)
        self.assertFalse(is_running(program))
        self.assert_free()

    def test_a_grandchild_that_ignores_term_is_killed_before_the_lock_is_released(self):
        ignoring = 'trap "" TERM; echo deaf; while :; do sleep 1000; done'
        script = f"sh -c '{ignoring}' & echo $! $$; exec sleep 1000"
        holder = self.lock("--grace", "300ms", "--", "sh", "-c", script)
        lines = {self.line(holder), self.line(holder)}
        lines.remove("deaf")
        grandchild, program = map(int, lines.pop().split())
        holder.send_signal(signal.SIGTERM)
        self.wait_ended(program)
        self.assert_ends(holder, 143)
        self.assertFalse(is_running(grandchild))

    def test_signals_for_the_program_s_own_use(self):
        holder = self.lock("--", "sh", "-c",
                           "trap 'echo usr1' USR1; trap 'echo usr2; exit 4' USR2; echo ready; "
                           "while :; do sleep 0.01; done")
        self.assertEqual(self.line(holder), "ready")
        holder.send_signal(signal.SIGUSR1)
        self.assertEqual(self.line(holder), "usr1")
        holder.send_signal(signal.SIGUSR2)
        self.assertEqual(self.line(holder), "usr2")
        self.assert_ends(holder, 4)

    def test_what_a_program_leaves_behind_keeps_the_lock(self):
        holder, program, grandchild = self.start_family("exit 6", "exec tail -f /dev/null >/dev/null 2>&1")
        self.wait_ended(program)
        self.wait_said(holder, "/l: waiting for 1 process that sh left behind (see --release-early)")
        self.assertTrue(is_running(grandchild))
        self.assertEqual(len(self.nodes()), 1)
        os.kill(grandchild, signal.SIGKILL)
        self.assert_ends(holder, 6, "^released /l ")
        self.assert_free()

    def test_what_a_program_leaves_behind_ends_when_zksh_is_to_end(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            holder, _, grandchild = self.start_family("exit 6", "exec tail -f /dev/null >/dev/null 2>&1")
            self.wait_said(holder, "left behind")
            holder.send_signal(number)
            self.assert_ends(holder, 6, "SIGTERM to what pid [0-9]+ \\(sh\\) left behind", "released /l")
            self.assertFalse(is_running(grandchild))

    def test_what_a_program_leaves_behind_runs_on_where_that_is_wanted(self):
        script = "tail -f /dev/null >/dev/null 2>&1 & echo $!; exit 6"
        holder = self.lock("--release-early", "--", "sh", "-c", script)
        grandchild = int(self.line(holder))
        try:
            self.assert_ends(holder, 6)
            self.assertTrue(is_running(grandchild))
            self.assert_free()
        finally:
            os.kill(grandchild, signal.SIGKILL)

    def test_kill_of_zksh_ends_program_and_grandchildren(self):
        holder, program, grandchild = self.start_family("wait")
        holder.kill()
        self.wait_ended(program, grandchild, limit=10)

    def test_kill_of_zksh_lets_a_program_clear_up(self):
        mark = self.file("mark")
        script = (f"trap 'echo term >> {mark}' TERM; echo ready; "
                  f"until grep -q term {mark} 2>/dev/null; do sleep 0.01; done; "
                  f"echo clean >> {mark}; exit 0")
        holder = self.lock("--", "sh", "-c", script)
        self.assertEqual(self.line(holder), "ready")
        holder.kill()
        self.wait_until(lambda: os.path.exists(mark) and "clean" in self.text(mark))
        # The kernel may have sent the signal more than once.
        self.assertRegex(self.text(mark), "^(term\n)+clean\n$")

    def test_kill_of_zksh_ends_a_program_that_ignores_term(self):
        holder = self.lock("--grace", "300ms", "--", "sh", "-c",
                           "trap '' TERM; echo $$; while :; do sleep 1000; done")
        program = int(self.line(holder))
        holder.kill()
        self.wait_ended(program, limit=10)

    def test_no_watchdog_is_left(self):
        holder = self.lock("--", "sh", "-c", "echo $$; exec cat")
        program = int(self.line(holder))
        helpers = children(holder.pid)
        self.assertEqual(len(helpers), 1)
        self.assertEqual(children(*helpers), {program})
        self.close_input(holder)
        self.assertEqual(holder.wait(20), 0)
        self.assertFalse(is_running(*helpers))

    @staticmethod
    def text(path):
        with open(path, encoding="ascii") as file:
            return file.read()


class Asked(LockTest):
    """Somebody writes into the holder's node that the lock is wanted."""

    def start_holder(self, *options, script="echo ready; exec sleep 1000"):
        holder = self.lock(*options, "--", "sh", "-c", script)
        self.assertEqual(self.line(holder), "ready")
        return holder, f"{self.root}/l/{self.nodes()[0]}"

    def test_the_program_is_told_to_end(self):
        for word in (b"__REVOKE__", b"unlock"):
            holder, node = self.start_holder()
            self.znodes.set(node, word)
            self.assert_ends(holder, 143, "(?m)^asked to release /l",
                             r"(?m)^/l: somebody wants the lock: SIGTERM to pid \d+ \(sh\)$",
                             "(?m)^released /l ")
            self.assert_free()

    def test_a_program_that_does_not_heed_it_is_killed(self):
        holder, node = self.start_holder(
            "--grace", "200ms", script="trap '' TERM; echo ready; while :; do sleep 1000; done")
        self.znodes.set(node, b"__REVOKE__")
        self.assert_ends(holder, 137, r"(?m)SIGTERM to pid", r"(?m)SIGKILL to pid",
                         "(?m)^released /l ")

    def test_holding_on(self):
        holder, node = self.start_holder("--on-revoke", "ignore", script="echo ready; exec cat")
        self.znodes.set(node, b"__REVOKE__")
        self.wait_said(holder, "asked to release /l; holding on")
        self.close_input(holder)
        self.assertEqual(holder.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
