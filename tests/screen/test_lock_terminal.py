"""A program under a lock has the terminal alone, and zksh gets it back unchanged."""
import os
import re
import shlex
import signal
import sys
import unittest

from shell_case import ZKSH, ShellTest
from held_program import HeldProgram
from running_processes import is_running

# A program that draws: it reads keys, and decides itself what Ctrl-C is.
DRAWS = """
import os, signal, sys, termios, tty
before = termios.tcgetattr(0)
tty.setcbreak(0)
signal.signal(signal.SIGINT, lambda *_: os.write(1, ("interrupted" + os.linesep).encode()))
print("ready", os.getpgrp() == os.tcgetpgrp(0), os.getpid(), "now", flush=True)
while (key := os.read(0, 1)) != b"q":
    print("key", key.decode(), flush=True)
termios.tcsetattr(0, termios.TCSADRAIN, before)
"""


# Nothing keeps a lock while zksh is stopped.
STOP_WARNING = (r"warning: locked /l; while zksh is stopped, the locks last at most \d+s\s+"
                r"\[1\]\+  Stopped")


class LockTerminal(ShellTest):
    def setUp(self):
        super().setUp()
        self.draws = f"{sys.executable} -S {self.file('draws', DRAWS)}"

    def lock_line(self, program, *options):
        options = " ".join(options)
        return f"{shlex.quote(ZKSH)} -s {self.connect} {options} lock -q /l -- {program}"

    def in_script(self, script):
        """A shell without job control that runs a script. Of a program that has ended tmux may not show the last line: a script
        whose last line is looked for reads another one."""
        return self.screen_of(["sh", "-c", script])

    def in_shell(self, line):
        """A shell with job control, and a line typed into it."""
        screen = self.screen_of(["bash", "--norc", "--noprofile", "-i"], width=200)
        self.wait_shell(screen)
        screen.type(line + "\n")
        return screen

    def wait_ready(self, screen):
        """Returns the program's process id."""
        return int(screen.wait_for(lambda s: re.search(r"(?m)^ready True (\d+) now$", s.text())).group(1))

    def wait_nodes(self, number):
        self.assertTrue(self.znodes.await_children(self.root + "/l", number, 20))

    def test_has_the_terminal_and_gives_it_back(self):
        screen = self.in_script(self.lock_line(self.draws) +
                                "; echo status $?; stty -a; read line; echo got $line; read line")
        self.wait_ready(screen)
        screen.keys("C-c")
        screen.wait_for("interrupted")
        screen.keys("a")
        screen.wait_for("key a")
        screen.keys("q")
        screen.wait_for("status 0")
        screen.wait_for(" icanon")
        screen.type("a line\n")
        screen.wait_for("got a line")

    def test_killed_program_leaves_no_odd_modes(self):
        screen = self.in_script(self.lock_line(self.draws) + "; echo status $?; stty -a; read line")
        os.kill(self.wait_ready(screen), signal.SIGKILL)
        screen.wait_for("status 137")
        screen.wait_for(lambda s: " icanon" in s.text() and " echo " in s.text())

    def test_interrupt_ends_the_script_too(self):
        screen = self.in_script("for i in 1 2; do " + self.lock_line("sh -c 'echo ready; sleep 1000'")
                                + "; echo again; done")
        screen.wait_for("ready")
        screen.keys("C-c")
        screen.wait_for(lambda s: s.exit_status() is not None)
        self.assertEqual(screen.exit_status(), -signal.SIGINT)
        self.assertNotIn("again", screen.text())
        self.wait_nodes(0)

    def test_interrupt_while_the_terminal_is_handed_over(self):
        """The program has the terminal, and is not executed yet."""
        program = self.file("program", "#!/bin/sh\necho ran\n", 0o700)
        held = HeldProgram(program)
        self.addCleanup(held.release)
        screen = self.in_script("for i in 1 2; do " + self.lock_line(program) + "; echo again; done")
        held.wait_awaited()
        screen.keys("C-c")
        screen.wait_for(lambda s: s.exit_status() is not None)
        self.assertEqual(screen.exit_status(), -signal.SIGINT)
        self.assertNotIn("again", screen.text())
        self.wait_nodes(0)

    def test_suspend_and_foreground(self):
        screen = self.in_shell(self.lock_line(self.draws) + "; echo status $?")
        self.wait_ready(screen)
        screen.keys("C-z")
        screen.wait_for("Stopped")
        self.assertRegex(screen.text(), STOP_WARNING)
        self.wait_shell(screen)
        screen.type("fg\n")
        screen.wait_for(lambda s: s.lines()[-1].startswith(ZKSH))
        # bash has put the modes of the stopped job back.
        screen.keys("b")
        screen.wait_for("key b")
        screen.keys("q")
        self.wait_nodes(0)

    def test_suspended_while_it_holds(self):
        screen = self.in_shell(f"{shlex.quote(ZKSH)} -s {self.connect} lock -q /l --hold")
        screen.wait_for("/l/_c_")
        screen.keys("C-z")
        screen.wait_for("Stopped")
        self.assertRegex(screen.text(), STOP_WARNING)
        screen.type("fg\n")
        # Until then it is the line editor of bash that reads.
        screen.wait_for(lambda s: any(line.startswith(ZKSH) for line in s.lines()))
        self.wait_running(screen)
        screen.keys("C-d")
        self.wait_nodes(0)

    def test_suspended_for_longer_than_the_session(self):
        screen = self.in_shell(self.lock_line(self.draws, "-t", "8000"))
        self.wait_ready(screen)
        screen.keys("C-z")
        screen.wait_for("Stopped")
        self.wait_nodes(0)
        screen.type("fg\n")
        screen.wait_for("lost /l: the servers did not confirm it")
        self.wait_shell(screen)
        screen.type("echo status $?\n")
        screen.wait_for("status 76")

    def test_background_program_that_wants_the_terminal(self):
        # set -b: bash tells of the stop at once, not before its next prompt.
        screen = self.in_shell("set -b; " + self.lock_line("cat") + " &")
        screen.wait_for("[1]+  Stopped")
        self.wait_nodes(1)
        screen.type("fg\n")
        # Until then it is the line editor of bash that reads.
        screen.wait_for(lambda s: s.lines()[-1].startswith(ZKSH))
        screen.type("hello\n")
        screen.wait_for(lambda s: s.lines().count("hello") == 2)
        screen.keys("C-d")
        self.wait_nodes(0)

    def test_at_the_prompt(self):
        screen = self.start()
        screen.type(f"lock -q /l -- {self.draws}\n")
        self.wait_ready(screen)
        screen.keys("C-c")
        screen.wait_for("interrupted")
        screen.keys("q")
        self.wait_prompt(screen, 1)
        self.wait_nodes(0)
        screen.type("ls /\n")
        screen.wait_for(lambda s: "l" in s.lines())

    def test_killed_at_the_prompt(self):
        screen = self.start()
        screen.type(f"lock -q /l -- {self.draws}\n")
        os.kill(self.wait_ready(screen), signal.SIGKILL)
        self.wait_prompt(screen, 1)
        screen.keys("x", "C-h")  # the line is edited
        self.wait_prompt(screen, 1)
        screen.type("lock -q /l -- stty -a\n")
        screen.wait_for(lambda s: " icanon" in s.text() and " echo " in s.text())
        self.wait_prompt(screen, 2)
        self.wait_nodes(0)

    def test_interrupted_at_the_prompt(self):
        screen = self.start()
        program = self.file("program", "echo ready\nexec tail -f /dev/null\n")
        for number, quiet in enumerate(("", "-q"), 1):
            screen.type(f"lock {quiet} /l -- sh {program}\n")
            screen.wait_for(lambda s, n=number: s.lines().count("ready") == n)
            screen.keys("C-c")
            # What zksh says next has a line of its own.
            self.wait_prompt(screen, number)
            self.assertEqual(number, screen.lines().count("^C"), screen.text())
        self.assertEqual(1, len([line for line in screen.lines() if line.startswith("released /l")]))
        self.wait_nodes(0)

    def test_behind_the_prompt_it_does_not_get_the_terminal(self):
        screen = self.in_shell(f"{shlex.quote(ZKSH)} -s {self.connect}")
        self.wait_prompt(screen, 0)
        screen.type("lock -q /l -- sh -c 'cat < /dev/tty' &\n")
        screen.wait_for("is stopped: it wants the terminal, which the prompt has")
        screen.type("ls /\n")
        self.wait_prompt(screen, "2 locked /l")
        screen.type("unlock /l\n")
        self.wait_nodes(0)
        self.assertNotIn("Stopped", screen.text())

    def test_behind_the_prompt(self):
        screen = self.start()
        screen.type("lock -q /l -- sleep 1000 &\n")
        # Not before: the prompt is drawn anew when the lock is had.
        self.wait_prompt(screen, "1 locked /l")
        screen.keys("C-c")  # not the program's
        screen.type("ls /\n")
        self.wait_prompt(screen, "2 locked /l")
        self.assertIn("l/", screen.lines())
        self.wait_nodes(1)
        told = "1 job is running in the background, and this shell has locked /l; exit again to end them"
        screen.keys("C-d")
        screen.wait_for(lambda s: " ".join(s.lines()).count(told) == 1)
        self.wait_prompt(screen, "2 locked /l")
        screen.type("pwd\n")  # who goes on is asked anew
        self.wait_prompt(screen, "3 locked /l")
        screen.type("quit\n")
        screen.wait_for(lambda s: " ".join(s.lines()).count(told) == 2)
        self.wait_prompt(screen, "4 locked /l")
        screen.keys("C-d")
        self.wait_exit(screen, 0)
        self.wait_nodes(0)

    def test_who_gives_the_lock_back_ends_the_program_first(self):
        told = self.file("told")
        program = self.file("program", f"tail -f /dev/null &\ntrap 'echo told > {told}; exit 3' TERM\n"
                            f"echo $$ > {told}.pid\nwait\n")
        screen = self.start()
        ways = [("-q", "unlock /l"), ("", "unlock --all"), ("", "connect --force"), ("", "close --force")]
        for number, (quiet, line) in enumerate(ways, 1):
            for name in (told, told + ".pid"):
                if os.path.exists(name):
                    os.unlink(name)
            screen.type(f"lock {quiet} /l -- sh {program} &\n")
            screen.wait_for(lambda _: os.path.exists(told + ".pid") and os.path.getsize(told + ".pid") > 1)
            pid = int(self.text("told.pid"))
            screen.type(line + "\n")
            screen.wait_for(lambda s, n=number: len(re.findall("(?m)^released /l ", s.text(history=True))) == n)
            self.assertFalse(is_running(pid), line)
            self.assertTrue(os.path.exists(told), line)
            screen.wait_for(lambda s, n=number: s.text(history=True).count("exited with status 3") == n)
        said = screen.text(history=True)
        self.assertEqual(len(ways), len(re.findall(r"(?m)^/l: the (?:lock is being released|job is ending): SIGTERM to pid \d+ \(sh\)",
                                                   said)))
        self.assertNotIn("lost", said)
        self.wait_nodes(0)

    def test_downgrade_of_a_lock_that_is_only_waited_for(self):
        screen = self.start()
        deaf = "/l/_c_01234567-89ab-cdef-0123-456789abcdef-__WRIT__"
        screen.type(f"create /l\ncreate -e -s {deaf} deaf\n")
        screen.wait_for("__WRIT__0000000000")
        screen.type("wlock /l &\n")
        screen.wait_for("waiting /l: 2nd of 2")
        screen.type("rwlock /l downgrade\n")
        screen.wait_for("/l: this shell is still in the queue and does not hold it yet")
        screen.type("unlock\n")
        screen.wait_for("left the queue of /l")

    def test_nest_does_not_count_a_lock_that_ends_with_its_program(self):
        screen = self.start()
        screen.type("lock /l -- sleep 1000 &\n")
        screen.wait_for("acquired")
        screen.type("lock --nest /l\n")
        screen.wait_for("/l: --nest is not possible: it ends with its program")
        screen.type("unlock\n")
        screen.wait_for("released /l")
        self.wait_nodes(0)


if __name__ == "__main__":
    unittest.main()
