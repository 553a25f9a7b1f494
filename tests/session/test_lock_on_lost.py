"""--on-lost COMMAND: runs when a lock is lost, beside the program that was under it."""
import os
import signal
import unittest
import unittest.mock

from lock_case import LossTest
from running_processes import is_running
from session_case import ZKSH

WAIT = ["sh", "-c", "echo ready; exec tail -f /dev/null"]


class OnLost(LossTest):
    def setUp(self):
        super().setUp()
        self.fifo("gate")

    def command(self, then=""):
        """Tells of itself in a file, a line for each run."""
        return f"echo \"$$ $ZKSH_LOCK_LOSS\" >> {self.file('told')}; {then}"

    def told(self):
        """The process id and the reason of each run."""
        if not os.path.exists(self.file("told")):
            return []
        return [line.split(" ", 1) for line in self.text("told").split("\n")[:-1]]

    def wait_told(self):
        self.wait_until(self.told)
        return self.told()[0]

    def open_gate(self):
        self.file("gate", "")

    def test_program_and_lock_do_not_wait_for_it(self):
        holder, program = self.start_holder("--on-lost", self.command(f"cat {self.file('gate')}"),
                                            "--grace", "100ms")
        contender = self.start_contender()
        self.take_away()
        pid, reason = self.wait_told()
        self.assertEqual(reason, "its node was deleted")
        self.wait_ended(program)
        self.assert_ends(contender, 0)
        self.assertTrue(is_running(int(pid)), "it is no part of the program")
        self.assertIsNone(holder.poll())
        self.open_gate()
        self.assert_ends(holder, 76, "(?m)^lost /l: its node was deleted$")
        self.assertEqual(len(self.told()), 1)

    def test_runs_as_soon_as_the_program_is_told_to_end(self):
        holder, program = self.start_holder("--on-lost", self.command(f"cat {self.file('gate')}"))
        contender = self.start_contender()
        self.server.freeze()
        self.assertEqual(self.wait_told()[1], "the servers do not confirm it")
        self.wait_said(holder, "SIGTERM to pid")
        self.wait_ended(program)
        self.server.thaw()
        self.assert_ends(contender, 0)
        self.open_gate()
        self.assert_ends(holder, 76)
        self.assertEqual(len(self.told()), 1)
        self.assert_no_overlap()

    def test_environment_and_streams(self):
        names = "PATH NODE TOKEN MODE SESSION LOSS".split()
        show = "; ".join(f'echo "$ZKSH_LOCK_{name}"' for name in names)
        holder = self.lock("--on-lost", show + "; cat; echo end", "--", "sh", "-c",
                           'echo "$ZKSH_LOCK_NODE $ZKSH_LOCK_TOKEN"; exec cat')
        node, token = self.line(holder).split()
        self.take_away()
        self.wait_said(holder, "lost /l")
        out, _ = self.assert_ends(holder, 76)
        path, its_node, its_token, mode, session, loss, end = out.splitlines()
        self.assertEqual((path, its_node, its_token, mode, loss, end),
                         ("/l", node, token, "exclusive", "its node was deleted", "end"))
        self.assertRegex(session, "^0x[0-9a-f]+$")

    def test_both_an_action_and_a_command(self):
        holder = self.lock("--on-lost", "warn", "--on-lost", self.command(), "sh", "-c",
                           "echo ready; read line; echo $line")
        self.line(holder)
        self.take_away()
        self.wait_told()
        self.wait_said(holder, "keeps running (--on-lost warn)")
        self.send(holder, b"still here\n")
        out, _ = self.assert_ends(holder, 76)
        self.assertEqual((out, len(self.told())), ("still here\n", 1))

    def test_not_without_a_loss(self):
        status, out, _ = self.run_lock("--on-lost", self.command(), "echo", "hello")
        self.assertEqual((status, out), (0, "hello\n"))
        holder = self.lock("--on-lost", self.command(), *WAIT)
        self.line(holder)
        holder.send_signal(signal.SIGTERM)
        self.assert_ends(holder, 143)
        holder = self.lock("--on-lost", self.command(), *WAIT)
        self.line(holder)
        self.assertEqual(self.run_zksh("revoke", "-w", "20", "/l")[0], 0)
        self.assert_ends(holder, 143)
        self.assertEqual(self.told(), [])

    def test_lock_without_a_program(self):
        for number, option in enumerate(["--hold", "--until-signal"], 1):
            with self.subTest(option):
                holder = self.lock(option, "--on-lost", self.command())
                self.line(holder)
                self.take_away()
                self.wait_until(lambda n=number: len(self.told()) == n)
                self.assert_ends(holder, 76)

    def test_lock_of_a_shell_that_goes_on(self):
        shell = self.start("--keep-going", bufsize=0)
        self.send(shell, f"lock /l --on-lost '{self.command('cat ' + self.file('gate'))}'\n"
                  .encode())
        self.wait_said(shell, "acquired /l")
        self.take_away()
        self.wait_told()
        # It can be had again meanwhile.
        self.send(shell, b"unlock /l\nlock /l\n")
        self.wait_said(shell, "acquired /l")
        self.open_gate()
        self.assert_ends(shell, 76, "released /l")
        self.assertEqual(len(self.told()), 1)

    def test_detached_holder(self):
        status, out, err = self.run_lock("--detach", "--on-lost", self.command())
        self.assertEqual(status, 0, err)
        holder = int(out.split()[1])
        self.take_away()
        self.assertEqual(self.wait_told()[1], "its node was deleted")
        self.wait_ended(holder)

    def test_a_loss_as_the_program_ends(self):
        program = f'{ZKSH} -s {self.connect} delete "$ZKSH_LOCK_NODE"'
        self.assertEqual(self.run_lock("--on-lost", self.command(), "-c", program)[0], 76)
        # The release finds it, or a look before that.
        self.assertIn(self.wait_told()[1], ("it was already gone when it was released", "its node was deleted"))

    def test_one_that_does_not_end_is_killed(self):
        holder = self.lock("--hold", "--on-lost",
                           self.command("trap '' TERM; tail -f /dev/null; echo on"))
        self.line(holder)
        self.take_away()
        pid, _ = self.wait_told()
        self.assert_ends(holder, 76, timeout=60)
        self.assertFalse(is_running(int(pid)))

    def test_one_that_cannot_run(self):
        with unittest.mock.patch.dict(os.environ, {"SHELL": "/nonexistent/sh"}):
            holder = self.lock("--hold", "--on-lost", "true")
        self.line(holder)
        self.take_away()
        # With its input still open: a lock that is being released when its node goes is not lost.
        self.wait_said(holder, "--on-lost: /nonexistent/sh: program not found\n")
        self.assert_ends(holder, 76)


if __name__ == "__main__":
    unittest.main()
