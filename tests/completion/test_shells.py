"""Completion in the real bash (with and without bash-completion), zsh and fish: Tab at their own prompts."""
import pathlib
import shutil
import sys
import tempfile
import unittest

import pexpect
from kazoo.client import KazooClient

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import Server  # noqa: E402
from zksh import ZKSH  # noqa: E402

BASH_COMPLETION = "/usr/share/bash-completion/bash_completion"


def setUpModule():
    global server
    server = Server().start()
    unittest.addModuleCleanup(server.remove)
    zk = KazooClient(server.address)
    zk.start()
    for path in ("/food/apple", "/other one", "/zone-1", "/zone-2"):
        zk.create(path, makepath=True)
    zk.stop()


class ShellCase:
    """What is typed, with a Tab, becomes another line. The line is read back from the shell itself: its
    `zksh` is run through a function or program that prints its arguments, one in brackets each."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="zksh-completion-")
        self.addCleanup(shutil.rmtree, self.directory)
        # The program that completes; run in any other way it shows what it was given. zksh gives up after a second,
        # which a busy machine may take.
        program = pathlib.Path(self.directory, "zksh")
        program.write_text('#!/bin/sh\nif [ "$1" = --complete ]; then for _ in $(seq 30); do\n'
                           f'found=$({ZKSH} "$@") && [ -n "$found" ] && printf "%s\\n" "$found" && exit; done; exit; fi\n'
                           'printf GIVEN:; printf "[%s]" "$@"; echo .\n', encoding="utf-8")
        program.chmod(0o755)
        pathlib.Path(self.directory, "script.zk").touch()
        self.environment = {
            "PATH": f"{self.directory}:/usr/local/bin:/usr/bin:/bin", "HOME": self.directory,
            "TERM": "dumb", "LC_ALL": "C.UTF-8", "ZKSH_SERVER": server.address,
            "XDG_DATA_HOME": self.directory, "XDG_CONFIG_HOME": self.directory,
            "fish_features": "no-query-term"}  # nobody answers here; from fish 4.1 on it would wait

    def start(self, command, arguments, first):
        self.shell = pexpect.spawn(command, arguments, env=self.environment, cwd=self.directory,
                                   encoding="utf-8", timeout=60, dimensions=(24, 200))
        self.addCleanup(self.shell.close, force=True)
        self.shell.sendline(first + "; echo rea''dy")
        self.shell.expect("ready\r")

    def given(self, typed):
        """The arguments that zksh gets for a line that is typed with its Tabs, then marked by a final @."""
        self.shell.send(typed + "@\r")
        self.shell.expect(r"GIVEN:(\[.*@\])\.")
        return self.shell.match[1]

    def test_commands_and_options(self):
        self.assertEqual("[create][@]", self.given("zksh cre\t"))
        self.assertEqual("[--server][@]", self.given("zksh --ser\t"))
        self.assertEqual("[-o][plain][@]", self.given("zksh -o pl\t"))

    def test_nodes(self):
        self.assertEqual("[get][/food/@]", self.given("zksh get /fo\t"))
        self.assertEqual("[get][/food/apple][@]", self.given("zksh get /fo\ta\t"))
        self.assertEqual("[get][/zone-@]", self.given("zksh get /zon\t"))

    def test_the_server_of_the_line(self):
        self.environment["ZKSH_SERVER"] = "127.0.0.1:1"
        self.assertEqual(f"[-s][{server.address}/food][get][/apple][@]",
                         self.given(f"zksh -s {server.address}/food get /a\t"))

    def test_values_behind_an_equals_sign(self):
        self.assertEqual("[--output=plain][@]", self.given("zksh --output=p\t"))

    def test_a_name_with_a_blank_is_one_word(self):
        self.assertEqual("[get][/other one][@]", self.given("zksh get /oth\t"))
        self.assertEqual("[get][/other one][@]", self.given("zksh get /other\\ o\t"))

    def test_a_script_is_a_quoted_word(self):
        self.assertEqual("[-c][ls /][-o][plain][@]", self.given("zksh -c 'ls /' -o p\t"))

    def test_files(self):
        self.assertEqual("[-f][script.zk][@]", self.given("zksh -f scr\t"))
        self.assertEqual(f"[-f][{self.directory}/script.zk][@]", self.given("zksh -f ~/scr\t"))


class Bash(ShellCase, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.start("bash", ["--norc", "--noprofile"], f"PS1='$ '; . {ROOT}/completions/zksh.bash")


class BashWithBashCompletion(ShellCase, unittest.TestCase):
    """The file is found by its place, when it is first needed."""

    def setUp(self):
        super().setUp()
        place = pathlib.Path(self.directory, "bash-completion", "completions")
        place.mkdir(parents=True)
        shutil.copy(ROOT / "completions" / "zksh.bash", place / "zksh")
        self.start("bash", ["--norc", "--noprofile"], f"PS1='$ '; . {BASH_COMPLETION}")


class Meanings:
    """The shell lists options with what they do."""

    def test_meanings(self):
        self.shell.send("zksh get --\t")
        self.shell.expect(r"--watch.*Report the next change")


class Zsh(Meanings, ShellCase, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.start("zsh", ["-f", "-o", "no_beep"],
                   f"PS1='$ '; fpath=({ROOT}/completions $fpath); autoload -U compinit; "
                   f"compinit -u -d {self.directory}/dump")


class Fish(Meanings, ShellCase, unittest.TestCase):
    def setUp(self):
        super().setUp()
        place = pathlib.Path(self.directory, "fish", "vendor_completions.d")
        place.mkdir(parents=True)
        shutil.copy(ROOT / "completions" / "zksh.fish", place)
        self.environment["XDG_DATA_DIRS"] = self.directory
        self.environment["TERM"] = "xterm"
        self.start("fish", ["--no-config"], "function fish_prompt; echo '$ '; end; "
                   f"source {place}/zksh.fish")


if __name__ == "__main__":
    unittest.main()
