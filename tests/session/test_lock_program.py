"""A program under a lock: how it ends, and the exit status."""
import os
import re
import signal
import subprocess
import time
import unittest
from unittest import mock

from session_case import ZKSH, environment
from held_program import HeldProgram
from lock_case import LockTest
from running_processes import children, is_running
from server import four_letter_word

MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "man", "zksh-locks.7.in")


class Status(LockTest):
    def test_a_script_that_locks_itself(self):
        """By the line of zksh-locks(7), also under other locks, whose variables it inherits."""
        with open(MANUAL, encoding="utf-8") as manual:
            line = next(line.strip() for line in manual if 'exec zksh lock -n /jobs/me' in line)
        script = self.script("#!/bin/sh", line, 'echo "$ZKSH_LOCK_PATH $1"')
        setting = ["env", f"PATH={os.path.dirname(ZKSH)}:/usr/bin:/bin", f"ZKSH_SERVER={self.connect}"]
        alone = []

        def is_connected():  # in two seconds, which a busy machine may exceed
            alone.append(subprocess.run([*setting, script, "word"], capture_output=True, text=True, timeout=60, check=False))
            return alone[-1].returncode != 3
        self.wait_until(is_connected)
        self.assertEqual((alone[-1].returncode, alone[-1].stdout), (0, "/jobs/me word\n"), alone[-1].stderr)
        for path in ("/other", "/jobs/me2", "/jobs", "/jobs/me"):
            with self.subTest(under=path):
                status, out, err = self.run_brief("lock", path, "--", *setting, script, "word")
                self.assertEqual((status, out), (0, "/jobs/me word\n"), err)
                self.assertEqual(err.count("acquired /jobs/me "), 1)

    def test_shell_text(self):
        shell = self.script("#!/bin/sh", 'echo "$0 ${0##*/} $#"; exec sh "$@"', name="my-shell")
        with mock.patch.dict(os.environ, SHELL=shell):
            status, out, _ = self.run_lock("-q", "-c", "echo $((20 + 1)); exit 5")
        self.assertEqual((status, out), (5, f"{shell} my-shell 2\n21\n"))

    def test_what_was_ignored_at_the_start_stays_so(self):
        """SIGPIPE, too, which zksh always ignores for itself."""
        script = "grep SigIgn /proc/self/status"
        for trap, ignored in (("PIPE", 1 << signal.SIGPIPE - 1), ("TSTP HUP", 1 << signal.SIGTSTP - 1 | 1), ("", 0)):
            with self.subTest(trap):
                words = ["sh", "-c", f"trap '' {trap}; exec \"$@\"" if trap else 'exec "$@"', "sh", ZKSH, "-s", self.connect]
                out = subprocess.run([*words, "lock", "-q", "/l", "-c", script], capture_output=True, text=True, timeout=60,
                                     check=True).stdout
                self.assertEqual(int(out.split()[1], 16), ignored)

    def test_other_pid_namespace(self):
        """Its /proc shows other processes, of which one may have the number of a descendant."""
        unshare = ["unshare", "-p", "-f"]
        if subprocess.run([*unshare, "--mount-proc", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("needs the right to make a PID namespace, and a root that is a mount point")
        words = [ZKSH, "-s", self.connect, "lock", "-q", "/l", "--", "true"]
        done = subprocess.run([*unshare, *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/proc shows the processes of another PID namespace; ", done.stderr)
        self.assertFalse(self.znodes.exists(self.root + "/l"))
        done = subprocess.run([*unshare, "--mount-proc", *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_program_without_its_interpreter(self):
        script = self.script("#!/no/such/interpreter")
        status, out, err = self.run_lock("-q", "--", script)
        self.assertEqual((status, out, err),
                         (126, "", f"cannot run {script}: its interpreter is missing\n"))
        self.assert_free()


class SlowStart(LockTest):
    """The executable is on a slow file system."""

    def start_held(self, *options):
        program = self.script("#!/bin/sh", "echo ran")
        held = HeldProgram(program)
        self.addCleanup(held.release)
        holder = self.lock("--", program, options=options)
        held.wait_awaited()
        return holder, held

    def zxid(self):
        return int(re.search("^Zxid: (0x[0-9a-f]+)$", four_letter_word(self.server.port, "srvr"), re.MULTILINE)[1], 16)

    def test_it_runs_as_long_as_the_lock_is_held(self):
        holder, held = self.start_held("-t", "16000")
        # So many checks take longer than a lease lasts without them: twelve come in a session timeout.
        begin = self.zxid()
        self.wait_until(lambda: self.zxid() >= begin + 16)
        self.assertEqual(len(self.nodes()), 1)
        held.release()
        out, _ = self.assert_ends(holder, 0, "(?m)^released /l ")
        self.assertEqual(out, "ran\n")

    def test_the_lock_is_lost_before_it_runs(self):
        holder, held = self.start_held("-t", "16000")
        self.take_away()
        out, _ = self.assert_ends(holder, 76, "(?m)^lost /l: its node was deleted$", "SIGTERM to pid")
        self.assertEqual(out, "")
        held.release()


class Published(LockTest):
    """What a contender's znode tells of the program."""

    def command_of(self, *arguments):
        holder = self.lock(*arguments)
        self.assertEqual(self.line(holder), "ready")
        data = self.znodes.get(f"{self.root}/l/{self.nodes()[0]}").decode()
        holder.communicate(timeout=60)
        self.assert_free()
        self.assertNotIn("secret", data)
        return re.search('cmd="(.*?)"', data)[1]

    def test_only_the_program_s_name(self):
        for text, name in (("echo ready; read secret", "echo"),
                           ("  A=secret B=secret\n/bin/echo ready; read secret", "echo"),
                           ("A='x secret' echo ready; read line", "sh"),
                           ('A=$(echo secret) echo ready; read line', "sh"),
                           ("A=x;secret() { read line; }; echo ready; secret", "sh"),
                           ("(echo ready; read secret)", "sh"),
                           ("/bin/echo=/secret 2>&- x; echo ready; read line", "sh")):
            with self.subTest(text):
                self.assertEqual(self.command_of("-c", text), name)
        self.assertEqual(self.command_of("--", "sh", "-c", "echo ready; read secret"), "sh")

    def test_no_other_command(self):
        self.assertEqual(self.command_of("--on-lost", "echo secret", "--on-revoke", "echo secret", "--",
                                         "sh", "-c", "echo ready; read line"), "sh")

    def test_messages_have_no_more(self):
        holder = self.lock("-c", "A=secret sh -c 'echo ready; exec sleep 1000'; secret", "--grace", "1s")
        self.assertEqual(self.line(holder), "ready")
        self.znodes.set(f"{self.root}/l/{self.nodes()[0]}", b"unlock")
        _, text = self.assert_ends(holder, 143, r"SIGTERM to pid \d+ \(sh\)")
        self.assertNotIn("secret", text)


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
        begun = time.monotonic()
        holder.send_signal(signal.SIGTERM)
        self.assertEqual(self.line(holder), "asked")

        def insist():
            if is_running(program):  # one more, behind its end, would be for zksh alone
                holder.send_signal(signal.SIGTERM)
            return not is_running(program)

        self.wait_until(insist)
        self.assertGreater(time.monotonic() - begun, 0.4)  # until then they count as the first one
        self.assert_ends(holder, 137)
        self.assertFalse(is_running(program))
        self.assert_free()

    def test_the_two_signals_of_timeout_are_one(self):
        """coreutils sends SIGTERM to its child and then to its group: itself and the child."""
        for _ in range(10):
            wrapped = subprocess.Popen(
                ["timeout", "60", ZKSH, "-s", self.connect, "lock", "/l", "--", "sh", "-c",
                 "trap 'echo asked; read line; echo clean; exit 3' TERM; sleep 1000 & echo ready; while :; do wait; done"],
                env=environment(self.directory), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                bufsize=0)
            self.addCleanup(self.end, wrapped)
            self.assertEqual(self.line(wrapped), "ready")
            wrapped.send_signal(signal.SIGTERM)  # it passes this on as at the end of its time
            self.assertEqual(self.line(wrapped), "asked")
            self.send(wrapped, b"go on\n")
            self.assertEqual(self.assert_ends(wrapped, 3)[0], "clean\n")
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
        self.wait_said(holder, "/l: waiting for 1 process left behind by sh (see --release-early)")
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
        self.assertEqual(holder.wait(60), 0)
        self.assertFalse(is_running(*helpers))


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
                             r"(?m)^/l: somebody asked for the lock: SIGTERM to pid \d+ \(sh\)$",
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
        self.wait_said(holder, "asked to release /l; not releasing it")
        self.close_input(holder)
        self.assertEqual(holder.wait(60), 0)

    def test_a_command_is_not_under_the_lock_but_before_the_end(self):
        command = f"echo began > {self.file('log')}; cat {self.fifo('go')}; echo ended >> {self.file('log')}"
        holder, node = self.start_holder("--on-revoke", command, script="echo ready; exec cat")
        self.znodes.set(node, b"__REVOKE__")
        self.wait_until(lambda: os.path.exists(self.file("log")))
        self.assertEqual(len(self.nodes()), 1)
        self.close_input(holder)
        self.assert_free()
        self.assertIsNone(holder.poll())
        self.file("go", "")
        self.assertEqual(holder.wait(60), 0)
        self.assertEqual(self.text("log"), "began\nended\n")


if __name__ == "__main__":
    unittest.main()
