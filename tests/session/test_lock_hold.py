"""Locks held without a program: in the foreground, and by a detached zksh."""
import os
import re
import signal
import subprocess
import time
import unittest

from lock_case import LockTest
from running_processes import is_running
from zksh import ZKSH


class Hold(LockTest):
    def hold(self, *options, **how):
        """zksh that holds the lock; and the node that it has printed."""
        holder = self.lock("--hold", *options, **how)
        return holder, self.line(holder)

    def test_prints_the_node_and_ends_with_its_input(self):
        holder, node = self.hold()
        self.assertEqual(["/l/" + name for name in self.nodes()], [node])
        self.send(holder, b"this is thrown away\n")
        self.close_input(holder)
        out, _ = self.assert_ends(holder, 0, "^acquired /l ", "(?m)^released /l ")
        self.assertEqual(out, "")
        self.assert_free()

    def test_input_that_means_nothing(self):
        with open(self.script("one"), "rb") as file, open(os.devnull, "rb") as null:
            for stdin in (file, null):
                with self.subTest(stdin.name):
                    begun = time.monotonic()
                    status, _, err = self.run_zksh("lock", "/l", "--hold-for", "400ms", stdin=stdin)
                    self.assertEqual(status, 0)
                    self.assertGreaterEqual(time.monotonic() - begun, 0.4)
                    self.assertRegex(err, r"held=([4-9]\d\dms|[\d.]+s)\b")
                    self.assert_free()

    def test_input_that_is_at_its_end(self):
        with open(self.script("one"), "rb") as file, open(os.devnull, "rb") as null:
            for stdin in (file, null):
                with self.subTest(stdin.name):
                    status, out, err = self.run_zksh("lock", "/l", "--hold", stdin=stdin)
                    self.assertEqual((status, bool(out)), (0, True), err)
                    self.assert_free()

    def test_closed_input_is_at_its_end(self):
        holder = self.lock("--hold", stdin=None, preexec_fn=lambda: os.close(0))
        self.assert_ends(holder, 0, "(?m)^released /l ")
        self.assert_free()

    def test_until_a_signal_whatever_the_input_is(self):
        for closed in (False, True):
            with self.subTest(closed=closed):
                holder = self.lock("--until-signal", stdin=subprocess.DEVNULL,
                                   preexec_fn=(lambda: os.close(0)) if closed else None)
                node = self.line(holder)
                self.assertEqual(["/l/" + name for name in self.nodes()], [node])
                self.assertEqual(self.run_brief("lock", "/l", "-w", "300ms", "--", "true")[0], 75)
                holder.send_signal(signal.SIGTERM)
                self.assert_ends(holder, 128 + signal.SIGTERM, "(?m)^released /l ")
                self.assert_free()

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                holder, _ = self.hold()
                holder.send_signal(number)
                self.assert_ends(holder, 128 + number, "(?m)^released /l ")
                self.assert_free()

    def test_lost(self):
        holder, node = self.hold()
        self.znodes.delete(self.root + node)
        self.wait_said(holder, "lost /l: its node was deleted")
        _, err = self.assert_ends(holder, 76)
        self.assertNotIn("released", err)

    def test_lost_in_a_pause(self):
        holder, _ = self.hold(options=["-t", "6000"])
        self.stop(holder)
        self.wait_contenders(0)
        holder.send_signal(signal.SIGCONT)
        _, err = self.assert_ends(holder, 76, "(?m)^lost /l: ")
        self.assertNotIn("released", err)

    def test_released_when_somebody_asks(self):
        holder, node = self.hold()
        self.assertEqual(self.run_zksh("unlock", node)[0], 0)
        said = self.wait_said(holder, "released /l ")
        self.assertIn("asked to release /l", said)
        _, err = self.assert_ends(holder, 0)
        self.assertEqual(err, "")
        self.assert_free()

    def test_token_file(self):
        file = self.file("token")
        holder, node = self.hold("--token-file", file)
        number = int(self.text("token"))
        self.assertIn(f"cZxid = {number:#x}\n", self.run_zksh("stat", node)[1])
        holder.communicate()

    def test_token_file_that_cannot_be_written(self):
        status, out, err = self.run_lock("-q", "--hold", "--token-file", "/no/such/file")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("cannot write the token to /no/such/file", err)
        self.assert_free()

    def test_script_goes_on_after_it(self):
        self.znodes.create(self.root + "/a", b"value")
        self.assertEqual(self.run_zksh("-c", "lock -q /l --hold-for 1ms; get /a")[1].splitlines()[1:],
                         ["value"])


class Detach(LockTest):
    def detach(self, *arguments, options=(), path="/l"):
        """The node, and the process id of the zksh that holds it."""
        status, out, err = self.run_lock("--detach", *arguments, options=options, path=path)
        self.assertEqual(status, 0, err)
        node, pid = out.rsplit(None, 1)
        self.kill_at_end(int(pid))
        return node, int(pid)

    def test_outlives_the_zksh_that_started_it(self):
        node, pid = self.detach()
        self.assertTrue(is_running(pid))
        self.assertEqual(["/l/" + name for name in self.nodes()], [node])
        self.assertEqual(os.getsid(pid), pid)
        self.assertEqual(self.run_brief("lock", "/l", "-n", "--", "true")[0], 75)
        self.assertEqual(self.run_zksh("unlock", node)[0], 0)
        self.wait_ended(pid)
        self.assert_free()

    def test_without_a_result_it_is_ended(self):
        """Nobody would know what to end."""
        ours, theirs = os.pipe()
        self.addCleanup(os.close, theirs)
        os.close(ours)
        for redirection, status in ((">/dev/full", 1), (">&-", 1), (f">&{theirs}", 141)):
            with self.subTest(redirection):
                run = subprocess.run(["bash", "-c", f'"$0" -s "$1" lock --detach /l {redirection}', ZKSH, self.connect],
                                     capture_output=True, text=True, timeout=60, check=False, pass_fds=[theirs])
                self.assertEqual(run.returncode, status, run.stderr)
                self.assertIn("released /l", run.stderr)
                self.assert_free()
        self.assertEqual(self.run_zksh("-c", "lock --detach /l > /dev/full")[0], 1)
        self.assert_free()

    def test_quiet(self):
        status, out, err = self.run_zksh("-q", "lock", "--detach", "/l")
        self.kill_at_end(int(out.split()[-1]))
        self.assertEqual((status, err), (0, ""))

    def test_term_ends_it(self):
        _, pid = self.detach()
        os.kill(pid, signal.SIGTERM)
        self.assert_free()
        self.wait_ended(pid)

    def test_for_a_time(self):
        _, pid = self.detach("--hold-for", "300ms")
        self.wait_ended(pid)
        self.assert_free()

    def test_session_timeout_is_passed_on(self):
        _, pid = self.detach(options=["-t", "3000"])
        begun = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        self.wait_contenders(0, limit=20)
        self.assertGreater(time.monotonic() - begun, 1)

    def test_options_of_the_session_are_passed_on(self):
        _, pid = self.detach(options=["--connect-timeout", "7s", "-r", "--color", "never"])
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        for option in (b"-r", b"--connect-timeout", b"7s"):
            self.assertIn(option, words)

    def test_odd_names(self):
        for path in ("/l's \"odd\" ünï $'\\x;", "/l|touch", "/l>file", "/l&&m", "/l<m&", "/l$1"):
            with self.subTest(path):
                node, _ = self.detach("--id", path[1:], path=path)
                self.assertEqual([path + "/" + name for name in self.nodes(path)], [node])
                self.assertTrue(self.znodes.get(self.root + node).decode().startswith(path[1:] + " via="))

    def test_busy(self):
        self.detach()
        status, out, err = self.run_brief("lock", "/l", "-n", "--detach")
        self.assertEqual((status, out), (75, ""))
        self.assertIn("/l", err)
        for limit in ("100ms", "1ms"):  # also if connecting takes longer
            self.assertEqual(self.run_brief("lock", "/l", "-w", limit, "--detach")[0], 75)
        self.assertEqual(self.run_brief("lock", "/l", "-n", "-E", "42", "--detach")[0], 42)
        self.assertEqual(len(self.nodes()), 1)

    def test_no_server(self):
        status, out, err = self.run_zksh("--connect-timeout", "300ms", "lock", "/l", "--detach",
                                         server="127.0.0.1:1")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("no connection to 127.0.0.1:1", err)

    def test_no_server_within_the_time_to_wait(self):
        for wait in (["-w", "500ms"], ["-n"]):
            for rest in (["--detach"], ["--", "true"]):
                with self.subTest(wait=wait, rest=rest):  # long before the time to connect is over
                    status, _, err = self.run_zksh("--connect-timeout", "200s", "lock", "/l", *wait, *rest, server="127.0.0.1:1")
                    self.assertEqual(status, 3, err)
                    self.assertIn("no connection to 127.0.0.1:1", err)

    def test_interrupted_wait(self):
        self.detach()
        waiting = self.lock("--detach")
        self.wait_said(waiting, "waiting /l: 2nd of 2")
        waiting.send_signal(signal.SIGTERM)
        out, _ = self.assert_ends(waiting, 143)
        self.assertEqual(out, "")
        self.wait_contenders(1, limit=15)

    def test_credentials_come_along_unseen(self):
        for number, password in enumerate(("se'cret", "cret|id", "cret>file", "cret&&id", "<cret ;$1\"")):
            with self.subTest(password):
                addauth = "addauth digest $'ann:" + password.replace("'", "\\'") + "'; "
                parent = f"/p{number}"
                self.assertEqual(self.run_zksh("-c", addauth + f"create {parent} x auth::cdrwa")[0], 0)
                self.assertEqual(self.run_lock("--detach", path=parent + "/l")[0], 7)
                status, out, err = self.run_zksh("-c", addauth + f"lock {parent}/l --detach")
                self.assertEqual(status, 0, err)
                node, pid = out.split()
                self.assertTrue(node.startswith(parent + "/l/"), out)
                self.kill_at_end(int(pid))
                for name in ("cmdline", "environ"):
                    with open(f"/proc/{pid}/{name}", "rb") as file:
                        self.assertNotIn(b"cret", file.read())


if __name__ == "__main__":
    unittest.main()
