"""edit at the prompt: the editor has the terminal, also across Ctrl-Z, and zksh gets it back unchanged."""
import os
import re
import signal
import sys
import unittest

from shell_case import ZKSH, ShellTest

# It reads keys as vi does, and writes them to the file at the end.
EDITOR = """
import os, signal, sys, termios, tty
before = termios.tcgetattr(0)
tty.setcbreak(0)
signal.signal(signal.SIGINT, lambda *_: os.write(1, ("interrupted" + os.linesep).encode()))
print("editing", open(sys.argv[1]).read(), os.getpgrp() == os.tcgetpgrp(0), os.getpid(), "now", flush=True)
text = b""
while (key := os.read(0, 1)) != b"q":
    text += key
    print("key", key.decode(), flush=True)
open(sys.argv[1], "wb").write(text + b"\\n")
termios.tcsetattr(0, termios.TCSADRAIN, before)
"""


class EditAtThePrompt(ShellTest):
    def setUp(self):
        super().setUp()
        editor = self.file("editor.py", EDITOR)
        self.temporary = self.file("tmp")
        os.mkdir(self.temporary)
        self.znodes.create(self.root + "/a", b"old")
        self.how = {"EDITOR": f"{sys.executable} -S {editor}", "VISUAL": "", "TMPDIR": self.temporary}

    def value(self):
        return self.znodes.get(self.root + "/a")

    def wait_editing(self, screen):
        return int(screen.wait_for(lambda s: re.search(r"(?m)^editing old True (\d+) now$", s.text())).group(1))

    def test_has_the_terminal_and_gives_it_back(self):
        self.edit_with_an_interrupt(self.how["EDITOR"])

    def test_interrupt_of_an_editor_below_a_shell(self):
        self.edit_with_an_interrupt("env LC_ALL='C' " + self.how["EDITOR"])

    def edit_with_an_interrupt(self, editor):
        screen = self.start(**{**self.how, "EDITOR": editor})
        screen.type("edit /a\n")
        self.wait_editing(screen)
        screen.keys("C-c")
        screen.wait_for("interrupted")
        screen.keys("x")
        screen.wait_for("key x")
        screen.keys("q")
        screen.wait_for("Changed /a")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.value(), b"x")
        self.assertEqual(self.run_line(screen, "ls /", 1), ["a"])
        self.assertEqual(os.listdir(self.temporary), [])

    def test_a_killed_editor_writes_nothing(self):
        screen = self.start(**self.how)
        screen.type("edit /a\n")
        os.kill(self.wait_editing(screen), signal.SIGKILL)
        screen.wait_for("the editor exited with status 137; nothing was written")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.run_line(screen, "ls /", 1), ["a"])
        self.assertEqual(self.value(), b"old")
        self.assertEqual(os.listdir(self.temporary), [])

    def test_suspended_and_continued(self):
        screen = self.screen_of(["bash", "--norc", "--noprofile", "-i"], width=200, **self.how)
        self.wait_shell(screen)
        screen.type(f"{ZKSH} -s {self.connect} edit /a\n")
        self.wait_editing(screen)
        screen.keys("C-z")
        screen.wait_for("Stopped")
        self.wait_shell(screen)
        screen.type("fg\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith("edit /a"))
        screen.keys("y")
        screen.wait_for("key y")
        screen.keys("q")
        screen.wait_for("Changed /a")
        self.assertEqual(self.value(), b"y")

    def test_killed_zksh_leaves_no_file(self):
        screen = self.start(**self.how)
        screen.type("edit /a\n")
        self.wait_editing(screen)
        self.assertEqual(len(os.listdir(self.temporary)), 1)
        os.kill(screen.pid(), signal.SIGKILL)
        screen.wait_for(lambda _: os.listdir(self.temporary) == [])


class EditTheLine(ShellTest):
    """Ctrl-X Ctrl-E, and v in vi's command mode: the typed line in an editor."""

    def setUp(self):
        super().setUp()
        self.temporary = self.file("tmp")
        os.mkdir(self.temporary)
        self.znodes.create(self.root + "/a", b"the value")

    def start_with(self, editor, **how):
        return self.start(EDITOR=editor, VISUAL="", TMPDIR=self.temporary, **how)

    def test_what_was_saved_is_run(self):
        seen = self.file("seen")
        editor = self.file("editor.sh", f"""ls -l "$1" | cut -c 1-10 > {seen}; stat -c %A "${{1%/*}}" >> {seen}
            cat "$1" >> {seen}; printf 'get /a\nstat /none\nls /\n' > "$1"\n""")
        screen = self.start_with(f"sh {editor}")
        screen.type("get '/secret")
        screen.keys("C-x", "C-e")
        self.wait_prompt(screen, 2)
        with open(seen) as file:
            self.assertEqual(file.read(), "-rw-------\ndrwx------\nget '/secret")
        self.assertEqual(screen.lines()[1:-1], [
            self.prompt(0) + " get '/secret", "get /a", "stat /none", "ls /", "the value",
            "Node does not exist: /none", "stopped after a failure; the next line was not run"])
        self.assertEqual(os.listdir(self.temporary), [])
        screen.keys("Up")
        screen.wait_for("get /a\n> stat /none\n> ls /")

    def test_an_empty_text_runs_nothing(self):
        screen = self.start_with("truncate -s 0")
        screen.type("delete /a")
        screen.keys("C-x", "C-e")
        screen.wait_for(lambda s: [line.startswith(self.prompt(0)) for line in s.lines()] == [False, True, True])
        self.wait_prompt(screen, 0)
        self.assertEqual(self.run_line(screen, "get /a", 0), ["the value"])

    def test_an_editor_that_is_left_without_saving_runs_nothing(self):
        # As `:q!` in vi, it ends with status 0.
        screen = self.start_with("true")
        screen.type("delete /a")
        screen.keys("C-x", "C-e")
        screen.wait_for("nothing was saved in the editor, so nothing was run")
        self.wait_prompt(screen, 0, typed="delete /a")
        self.assertEqual(os.listdir(self.temporary), [])
        screen.keys("C-u")
        self.assertEqual(self.run_line(screen, "get /a", 0), ["the value"])
        # What is saved unchanged is run.
        screen = self.start_with("touch")
        screen.type("get /a")
        screen.keys("C-x", "C-e")
        screen.wait_for("\nget /a\nthe value\n")
        self.wait_prompt(screen, 1)

    def test_an_editor_that_fails_leaves_the_line(self):
        screen = self.start_with("false")
        screen.type("delete /a")
        screen.keys("C-x", "C-e")
        screen.wait_for("the editor exited with status 1; nothing was run")
        self.wait_prompt(screen, 0, typed="delete /a")
        screen.keys("C-u")
        screen.type("get /a\n")
        screen.wait_for("\nthe value")

    def test_v_in_vi_mode(self):
        screen = self.start_with("sed -i s,/b,/a,", INPUTRC=self.file("inputrc", "set editing-mode vi\n"))
        screen.type("get /b")
        screen.keys("Escape")
        screen.keys("v")
        screen.wait_for("\nget /a\nthe value\n")
        self.wait_prompt(screen, 1)


if __name__ == "__main__":
    unittest.main()
