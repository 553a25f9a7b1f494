#!/usr/bin/python3
"""Programs that drive zkCli.sh at a terminal (expect, pexpect) can drive zksh in its place, on any kind of terminal."""
import os
import subprocess
import tempfile
import unittest

import pexpect
from runner import install_shims
from server import Server

HERE = os.path.dirname(os.path.abspath(__file__))
PROMPT = r"\[zk: \S+\(CONNECTED\) %d\] "


class DriverTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.shims = install_shims(cls.directory, os.environ["ZKSH"])

    def environment(self, terminal):
        return {"PATH": f"{self.shims}:/usr/bin:/bin", "HOME": self.directory, "TERM": terminal,
                "XDG_CONFIG_DIRS": self.directory, "LC_ALL": "C.UTF-8"}

    def spawn(self, terminal, *words, name="zkCli.sh"):
        child = pexpect.spawn(name, list(words), env=self.environment(terminal), encoding="utf-8", timeout=60,
                              dimensions=(24, 80))
        self.addCleanup(child.close, force=True)
        return child

    def test_each_prompt_comes_once_and_whole(self):
        for terminal in ("xterm-256color", "vt100", "linux", "dumb", "unknown"):
            with self.subTest(terminal):
                child = self.spawn(terminal, "-server", self.server.address)
                child.expect("WatchedEvent state:SyncConnected")
                child.expect(PROMPT % 0)
                for number, line in enumerate(("create /d 1", "set /d two", "get /d", "nosuch", "deleteall /d")):
                    child.send(line + "\r")
                    child.expect(PROMPT % (number + 1))
                    shown = child.before
                    self.assertNotIn("(CONNECTED)", shown)
                    self.assertNotRegex(shown, r"\x1b\[[0-9;]*m")  # no colours
                    self.assertNotIn("?2004", shown)
                    if line == "get /d":
                        self.assertIn("two", shown)
                child.sendline("quit")
                child.expect(pexpect.EOF)

    def test_nothing_is_asked_and_nothing_is_waited_for(self):
        child = self.spawn("xterm", "-server", self.server.address)
        child.expect(PROMPT % 0)
        for number, line in enumerate(("create /q 1", "create /q/r 2", "deleteall /q", "watch /", "edit /", "ls / &",
                                       "create /it's 'open")):
            child.send(line + "\r")
            child.expect(PROMPT % (number + 1))
        child.send("ls /\r")
        child.expect(r"\[it's, zookeeper\]")
        child.sendline("delete /it's")
        child.expect(PROMPT % 9)
        child.sendeof()
        child.expect(pexpect.EOF)

    def test_one_command_on_a_terminal(self):
        """As docker exec -it runs it."""
        child = self.spawn("xterm", "-server", self.server.address, "ls", "/")
        child.expect(pexpect.EOF)
        child.close()
        self.assertEqual(0, child.exitstatus)
        self.assertRegex(child.before, r"path:null\r\n\[zookeeper\]\r\n$")

    def test_zookeeper_shell(self):
        child = self.spawn("xterm", self.server.address, name="zookeeper-shell")
        child.expect("Welcome to ZooKeeper!")
        child.expect(PROMPT % 0)
        child.sendline("ls /")
        child.expect(r"\[zookeeper\]")

    def test_expect(self):
        """A driver as people write them: by the prompt, by words of the answers, with a loop and a status."""
        done = subprocess.run(["expect", os.path.join(HERE, "driver.exp"), self.server.address], capture_output=True, text=True,
                              timeout=60, env=self.environment("xterm"), check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^value is 42\r?$")
        self.assertRegex(done.stdout, r"(?m)^children: a b\r?$")

    def test_a_prompt_wider_than_the_terminal(self):
        """The terminal alone wraps it, as with JLine: drivers look for its end."""
        servers = ",".join([self.server.address] * 5)
        for terminal in ("xterm", "dumb"):
            with self.subTest(terminal):
                child = self.spawn(terminal, "-server", servers)
                child.expect_exact("WatchedEvent state:SyncConnected type:None path:null\r\n")
                child.expect_exact(f"[zk: {servers}(CONNECTED) 0] ")
                child.send("ls /zookeeper\r")
                child.expect_exact(f"ls /zookeeper\r\n[config, quota]\r\n[zk: {servers}(CONNECTED) 1] ")

    def test_a_server_that_comes_later(self):
        """Also without the mode: the prompt is shown again as a whole when the state changes."""
        self.server.kill()
        child = self.spawn("xterm", "-s", self.server.address, name=os.path.abspath(os.environ["ZKSH"]))
        child.expect("Connection refused")
        child.expect(r"\(CONNECTING\) 0\] ")
        self.server.start()
        child.expect(PROMPT % 0)


if __name__ == "__main__":
    unittest.main()
