"""Scripts: where they stop and what they print, odd input, many at once, read-only servers."""
import os
import shutil
import subprocess
import unittest

from session_case import SessionTest, ZKSH
from ensemble import Ensemble


class Scripts(SessionTest):

    def test_commands_and_files_in_their_order(self):
        script = self.script("set /a two", "get /a")
        self.assertEqual(
            self.run_zksh("-c", "create /a one; get /a", "-f", script, "-c", "set /a three\nget /a",
                          "-f", "-", text=b"get /a\nset /a four\nget /a"),
            (0, "one\ntwo\nthree\nthree\nfour\n", "Created /a\n"))

    def test_quit_ends_all_and_keeps_the_status(self):
        script = self.script("quit", "create /never x")
        self.assertEqual(self.run_zksh("-f", script, "-c", "create /never x"), (0, "", ""))
        self.assertEqual(self.run_zksh("--keep-going", text=b"get /none\nquit\nls /\n"),
                         (4, "", "Node does not exist: /none\nstdin:1: failed (status 4)\n"))

    def test_a_password_does_not_stay_in_ps(self):
        process = self.start("-c", "create /ready; addauth digest ann:secret; create /value -",
                             stdin=subprocess.PIPE)
        self.wait_node("/ready")
        with open(f"/proc/{process.pid}/cmdline", "rb") as words:
            self.assertNotIn(b"secret", words.read())
        self.assertEqual(process.communicate(b"x", timeout=60)[1].count(b"other users can see a password"), 1)
        self.assertEqual(process.returncode, 0)

    def test_what_the_machine_lacks_is_named(self):
        cases = [("-n 5", b"the limit on open files is too low"), ("-n 12", b"the limit on open files is too low"), ("-n 18", b"zksh needs 19 (ulimit -n is 18)"),
                 ("-v 20000", b"the memory limit is too low")]
        if os.geteuid() != 0:  # root may start as many as there is room for
            cases.append(("-u 1", b"the limit on threads is too low"))
        for limit, words in cases:
            with self.subTest(limit):
                done = subprocess.run(
                    ["bash", "-c", f'ulimit {limit}; exec "$@"', "bash", ZKSH, "-s", self.connect, "ls", "/"],
                    capture_output=True, check=False)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn(words, done.stderr)

    def test_no_process_for_the_program_under_a_lock(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can use another user's limit")
        other_user = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]  # without other processes
        program = shutil.copy(ZKSH, self.file("zksh"))  # nobody else may be allowed to see this checkout
        os.chmod(program, 0o755)
        os.chmod(self.directory, 0o755)
        for most in range(1, 20):
            done = subprocess.run(
                [*other_user, "bash", "-c", f'ulimit -u {most}; exec "$@"', "bash", program, "-s", self.connect, "lock", "/l",
                 "--", "true"], capture_output=True, check=False)
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, 1, done)
            self.assertRegex(done.stderr, rb"the limit on threads is too low: .* \(ulimit -u is \d+\)\n$")

    def test_no_memory_for_the_program_under_a_lock(self):
        """It is said before the lock is asked for."""
        for most in range(20, 100, 4):
            done = subprocess.run(
                ["bash", "-c", f'ulimit -v {most << 10}; exec "$@"', "bash", ZKSH, "-s", self.connect, "lock", "-q", "/l", "--",
                 "true"], capture_output=True, check=False)
            if done.returncode == 0:
                break
            self.assertRegex(done.stderr, rb"limit( on threads)? is too low: .*\(ulimit -v is \d+\)\n$")

    def test_thousands_of_commands_in_one_session(self):
        self.assertEqual(self.run_zksh(text=b"create /a hello\n" + b"get /a\n" * 5000, timeout=600),
                         (0, "hello\n" * 5000, "Created /a\n"))

    def test_sixteen_at_once(self):
        processes = [self.start("-c", f"create /n{i} x; get /n{i}; set /n{i} y") for i in range(16)]
        for process in processes:
            self.assertEqual(process.communicate(timeout=60)[0], b"x\n")
            self.assertEqual(process.returncode, 0)
        self.assertEqual({self.znodes.get(f"{self.root}/n{i}") for i in range(16)}, {b"y"})


class ReadOnly(unittest.TestCase):
    """A server that is cut off from the others serves reads, to clients that ask for that."""
    run_zksh = SessionTest.run_zksh
    start = SessionTest.start
    end = staticmethod(SessionTest.end)

    def test_ensemble_without_a_quorum(self):
        # Without local sessions a read-only server accepts nobody (since ZooKeeper 3.5).
        with Ensemble(3, {"localSessionsEnabled": "true"},
                      jvm_flags=["-Dreadonlymode.enabled=true"]) as ensemble:
            self.directory = ensemble.directory
            survivor = ensemble.follower()
            # What this server has applied it still knows without the others.
            self.connect = survivor.address
            self.assertEqual(self.run_zksh("create", "/a", "x"), (0, "", "Created /a\n"))
            for other in [server for server in ensemble.servers if server is not survivor]:
                other.kill()
            survivor.wait_mode("read-only")
            self.assertEqual(self.run_zksh("-r", "get", "/a")[:2], (0, "x\n"))
            status, out, err = self.run_zksh("-r", "--keep-going", "-c", "set /a y; get /a")
            self.assertEqual((status, out), (11, "x\n"))
            self.assertIn(f"connected to {survivor.address}; this server is read-only", err)
            self.assertIn("Not a read-only call: /a", err)
            status, out, err = self.run_zksh("--connect-timeout", "1s", "get", "/a")
            self.assertEqual((status, out), (3, ""))
            self.assertIn(f"no connection to {survivor.address}: ", err)


if __name__ == "__main__":
    unittest.main()
