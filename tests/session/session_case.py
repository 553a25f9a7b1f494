"""Shared by the tests of one-shot commands and scripts: a server, and zksh as a child process."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from server import Server  # noqa: E402
from waiting import wait_until  # noqa: E402
from znodes import Znodes  # noqa: E402

ZKSH = os.path.abspath(os.environ.get("ZKSH", "build/zksh"))
NOT_SERVING = "reachable, but not serving (frozen, starting, without a quorum, or not a ZooKeeper server)"


class SessionTest(unittest.TestCase):
    """One server for a class, and a root of its own for each test."""

    @classmethod
    def setUpClass(cls):
        # Sessions may be as short as a second, and may outlive a slow test.
        cls.server = Server({"tickTime": "500", "maxSessionTimeout": "60000",
                             "clientPortAddress": "::"}).start()
        cls.addClassCleanup(cls.server.remove)
        cls.roots = 0

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-session-"))
        self.addCleanup(self.server_is_back)
        type(self).roots += 1
        self.root = f"/t{self.roots}"
        self.znodes = Znodes(self.server.address)
        self.addCleanup(self.znodes.connection.close)
        self.znodes.create(self.root)
        self.connect = self.server.address + self.root

    def server_is_back(self):
        if self.server.process is None:
            self.server.start()
        self.server.thaw()

    def start(self, *arguments, server=None, **how):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = {**os.environ, "HOME": self.directory, "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen([ZKSH, "-s", server or self.connect, *arguments],
                                   env=environment, **{**pipes, **how})
        self.addCleanup(self.end, process)
        return process

    def start_with(self, create, *arguments, **how):
        """zksh reading lines, which is connected and has done a first one."""
        process = self.start(*arguments, **how)
        self.send(process, create.encode() + b"\n")
        path = create.split()[-2]
        self.assertEqual(process.stderr.readline(), f"Created {path}\n".encode())
        return process

    @staticmethod
    def send(process, lines):
        process.stdin.write(lines)
        process.stdin.flush()

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def run_zksh(self, *arguments, text=b"", timeout=60, **how):
        """Status, stdout and stderr."""
        process = self.start(*arguments, **how)
        out, err = process.communicate(text, timeout=timeout)
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def script(self, *lines, name="script"):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        return path

    def wait_until(self, check, limit=20):
        wait_until(check, limit)

    def wait_node(self, path, there=True, limit=20):
        self.wait_until(lambda: self.znodes.exists(self.root + path) == there, limit)

    def wait_gone(self, path):
        """The node goes long before its session could time out."""
        self.wait_node(path, there=False, limit=5)

    def request_is_unread(self):
        """Whether a connection to the (frozen) server holds bytes that it has not read."""
        return self.server.unread() > 0
