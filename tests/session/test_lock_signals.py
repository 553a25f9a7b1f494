"""Signals to a zksh with a program under a lock, and their effect on the surrounding script."""
import signal
import sys
import time
import unittest

from lock_case import LockTest

# Says when it is ready, and what it gets; ends as its argument says. It waits for blocked signals: one that came between
# a handler and a pause would be slept over.
PROGRAM = """
import os, signal, sys
numbers = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
for number in numbers:
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print("ready", flush=True)
number = signal.sigwait(numbers)
print(signal.Signals(number).name, flush=True)
if sys.argv[1] == "by the signal":
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    os.kill(os.getpid(), number)
"""


class Scripts(LockTest):
    def setUp(self):
        super().setUp()
        self.file("program", PROGRAM)

    def program(self, ending):
        return f"lock /l -- {sys.executable} -S {self.file('program')} '{ending}'"

    def started(self, *arguments, **how):
        process = self.start(*arguments, bufsize=0, **how)
        self.assertEqual(self.line(process), "ready")
        return process

    def signalled(self, process, number):
        process.send_signal(number)
        self.assertEqual(self.line(process), signal.Signals(number).name)

    def assert_script(self, process, status, after):
        _, text = self.assert_ends(process, status)
        self.assertEqual(self.znodes.exists(self.root + "/after"), after, text)
        self.assertNotIn("stopped at", text)
        self.assert_free()

    def test_ends_with_the_program_that_ends_by_itself(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            process = self.started("-c", self.program("by itself") + "; create /after x")
            self.signalled(process, number)
            self.assert_script(process, 128 + number, after=False)

    def test_ends_although_it_keeps_going(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            script = self.script(self.program("by the signal"), "create /after x")
            process = self.started("--keep-going", "-f", script)
            self.signalled(process, number)
            self.assert_script(process, 128 + number, after=False)

    def test_no_further_source_is_run(self):
        process = self.started("-c", self.program("by itself"), "-c", "create /after x")
        self.signalled(process, signal.SIGTERM)
        self.assert_script(process, 128 + signal.SIGTERM, after=False)

    def test_a_last_command_that_ends_well_is_a_success(self):
        process = self.started("-c", self.program("by itself"))
        self.signalled(process, signal.SIGTERM)
        self.assert_script(process, 0, after=False)

    def test_a_program_that_takes_an_interrupt_for_itself_is_gone_on_after(self):
        process = self.started("-c", self.program("by itself") + "; create /after x")
        self.signalled(process, signal.SIGINT)
        self.assert_script(process, 0, after=True)

    def test_script_on_standard_input(self):
        process = self.start(bufsize=0)
        self.send(process, (self.program("by itself") + "\n").encode())
        self.assertEqual(self.line(process), "ready")
        self.send(process, b"create /after x\n")
        self.signalled(process, signal.SIGTERM)
        self.wait_until(lambda: process.poll() is not None)  # its input is still open
        self.assert_script(process, 128 + signal.SIGTERM, after=False)

    def test_ignored_signals_stay_ignored(self):
        """As nohup and the background of a script want it."""
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = self.start("lock", "/l", "--", "sh", "-c", "echo ready; read line; exit 7",
                             bufsize=0, preexec_fn=ignore)
        self.assertEqual(self.line(process), "ready")
        process.send_signal(signal.SIGHUP)
        self.send(process, b"go on\n")
        self.assert_ends(process, 7)


class Waiting(LockTest):
    """Who waits for a lock when the last server goes can take nothing back."""

    def wait_without_servers(self):
        self.start("lock", "/l", "--hold")
        self.wait_contenders(1)
        process = self.lock("--", "true")
        self.wait_contenders(2)
        self.wait_said(process, "waiting /l: 2nd of 2")
        self.server.kill()
        self.wait_said(process, "connection lost")
        return process

    def test_an_interrupt_waits_for_a_server_only_so_long(self):
        process = self.wait_without_servers()
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        self.assert_ends(process, 130, "^/l: still in the queue, since no server answers; its node is deleted when one does, "
                                       "or when the session ends\n$")
        self.assertLess(time.monotonic() - begun, 20)  # the session lasts for 30

    def test_a_second_interrupt_ends_it_at_once(self):
        process = self.wait_without_servers()

        def insist():  # those that come soon after the first one count as that
            process.send_signal(signal.SIGINT)
            return process.poll() is not None

        self.wait_until(insist)
        _, text = self.assert_ends(process, 130)
        self.assertNotIn("still in the queue", text)  # as it says when it has waited for a server


if __name__ == "__main__":
    unittest.main()
