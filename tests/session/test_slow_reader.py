"""Programs that do not read zksh's output block the command, but not the session."""
import os
import pathlib
import re
import signal
import unittest

from session_case import SessionTest
from terminal import Terminal
from zksh import ZKSH, environment
from znodes import Znodes

EPHEMERAL = 1


class SlowReader(SessionTest):
    def setUp(self):
        super().setUp()
        # More than a pipe takes.
        self.znodes.create(self.root + "/big")
        self.znodes.create(self.root + "/big/value", b"x" * 900_000)
        fifo = self.fifo("go on")
        self.process = self.start(
            "-t", "12s", "-c", "create -e /alive\n"
            f"get /big/value | sh -c 'read line < \"{fifo}\" && wc -c'\nget /alive")
        self.assertEqual(self.process.stderr.readline(), b"Created /alive\n")
        # The program waits for this in its turn, and so does zksh for the program.
        self.to_program = os.open(fifo, os.O_WRONLY)

    def tearDown(self):
        os.close(self.to_program)

    def await_session_timeout(self):
        """A session of the same timeout, which sends no heartbeats, ends meanwhile."""
        with Znodes(self.server.address, session_timeout=12_000) as silent:
            silent.create(self.root + "/silent", flags=EPHEMERAL)
            with Znodes(self.server.address) as watcher:
                self.assertTrue(watcher.await_gone(self.root + "/silent", 60))

    def test_the_session_lives_on(self):
        self.await_session_timeout()
        self.assertTrue(self.znodes.exists(self.root + "/alive"))
        os.write(self.to_program, b"go\n")
        out, _ = self.process.communicate(timeout=60)
        self.assertEqual((self.process.returncode, out), (0, b"900001\nnull\n"))

    def test_a_signal_ends_it(self):
        self.process.send_signal(signal.SIGTERM)
        # The program lives on, with standard output: the end of that is not waited for.
        self.assertEqual(self.process.wait(60), 128 + signal.SIGTERM)
        self.wait_node("/alive", there=False, limit=8)  # long before its session could time out


class LastOutput(SessionTest):
    def test_the_session_ends_with_the_commands(self):
        """Whoever does not read the last output holds zksh, but no session, and none of its nodes."""
        self.znodes.create(self.root + "/value", b"x" * 900_000)
        process = self.start("-c", "create -e /alive\nget /value")
        self.assertEqual(process.stderr.readline(), b"Created /alive\n")
        self.assertEqual(os.read(process.stdout.fileno(), 1), b"x")
        self.wait_gone("/alive")
        self.assertIsNone(process.poll())
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, len(out)), (0, 900_000))


class BackgroundProgram(SessionTest):
    """At the prompt. Programs that never end must neither fill the memory nor keep zksh from its keys."""
    MOST = 40 << 20  # bytes of memory

    def setUp(self):
        super().setUp()
        self.terminal = Terminal([ZKSH, "-s", self.connect], environment(self.directory))
        self.addCleanup(self.terminal.__exit__)
        self.wait_prompt(0)

    def wait_prompt(self, number, start=0):
        return self.terminal.read_until(rf"CONNECTED\) {number}\] ".encode(), start)

    def run_in_background(self, program):
        """Returns its pid."""
        fifo = self.fifo("process")
        self.terminal.type(f"help | sh -c 'echo $$ > \"{fifo}\"; exec {program}' &\n")
        return int(pathlib.Path(fifo).read_text(encoding="ascii"))

    def assert_small(self):
        memory = pathlib.Path(f"/proc/{self.terminal.process.pid}/status").read_text(encoding="ascii")
        self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", memory)[1]) << 10, self.MOST)

    def test_it_waits_for_the_terminal(self):
        self.run_in_background('sh -c "yes | head -c 64M"')
        end = b""
        while b"[1] done" not in end:
            end = end[-200:] + os.read(self.terminal.master, 1 << 16)
        self.assert_small()

    def test_keys_are_read_meanwhile(self):
        self.run_in_background("yes")
        at = self.terminal.read_until(rb"(y\n){1000}")
        self.terminal.type("jobs\n")
        at = self.wait_prompt(2, at)
        self.terminal.type("kill %1\n")
        self.terminal.read_until(rb"\[1\] exited with status 143", at)

    def test_a_line_without_end(self):
        self.run_in_background("cat /dev/zero")
        while self.terminal.bytes.count(0) < 1 << 20:
            self.terminal.read_until(rb".", len(self.terminal.bytes))
        self.assert_small()


if __name__ == "__main__":
    unittest.main()
