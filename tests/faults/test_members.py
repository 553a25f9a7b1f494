"""Sessions on an ensemble of ZooKeeper 3.8.0 and 3.9.3 with an observer: they move between versions, and are moved."""
import os
import pathlib
import socket
import struct
import subprocess
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "session"))
from session_case import fetched  # noqa: E402
from ensemble import Ensemble  # noqa: E402
from proxy import Proxy  # noqa: E402
from server import server_version  # noqa: E402
from waiting import wait_until  # noqa: E402
from zksh import ZKSH, run_zksh  # noqa: E402


class Members(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if server_version() < (3, 6):
            raise unittest.SkipTest("needs a server that has persistent watches")
        newest = fetched("3.9.3")
        cls.ensemble = Ensemble(3, {"maxSessionTimeout": "60000"})
        cls.addClassCleanup(cls.ensemble.remove)
        cls.older, cls.newer, cls.observer = cls.ensemble.servers
        for server in cls.ensemble.servers:
            server.config["server.3"] += ":observer"
        cls.observer.config["peerType"] = "observer"
        spawn = cls.newer._spawn

        def spawn_newest():
            with unittest.mock.patch.dict(os.environ, {"ZOOKEEPER_HOME": newest}):
                spawn()
        cls.newer._spawn = spawn_newest
        for server in cls.ensemble.servers:
            server._spawn()
        for server in cls.ensemble.servers:
            server.wait_mode("leader", "follower", "observer")

    def zksh(self, server, commands):
        done = run_zksh("-s", server.address, "-q", "-c", commands)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def shell(self, address):
        shell = subprocess.Popen([ZKSH, "-s", address, "-t", "20s", "--keep-going"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, bufsize=0)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        self.addCleanup(shell.stdout.close)
        self.addCleanup(shell.stdin.close)
        return shell

    def await_line(self, shell, part):
        line = b""
        while part not in line:
            line = shell.stdout.readline()
            self.assertNotEqual(b"", line, f"it ended before {part}")

    def test_an_observer_has_all_that_members_have(self):
        out = self.zksh(self.observer, "create /seen x; sync /seen; multi 'get /seen' 'ls /seen'; whoami; count /seen; delete /seen")
        for line in ("x\n", "ip: 127.0.0.1\n", "1\n"):
            self.assertIn(line, out)
        # Longer than a session lives of which the leader does not hear; a busy machine may cost it its connection.
        done = run_zksh("-s", self.observer.address, "-t", "16s", "lock", "-q", "/lock", "--", "sleep", "20")
        self.assertEqual(0, done.returncode, done.stderr)

    def test_watches_move_between_versions(self):
        self.zksh(self.older, "create /top x; create /top/a x; create /alone x")
        with Proxy(self.older.port) as proxy:
            shell = self.shell(proxy.address)
            shell.stdin.write(b"addWatch /top\naddWatch -m PERSISTENT /alone\nget -w /alone\nls -w /top\necho ready\n")
            self.await_line(shell, b"ready")
            for number, to in enumerate((self.newer, self.observer, self.newer, self.older)):
                proxy.move(to.port)
                self.await_line(shell, b"reconnected")
                shell.stdin.write(b"sync /\n")
                self.await_line(shell, b"Sync is OK")
                self.zksh(self.older, f"set /top/a {number}; set /alone {number}")
                self.await_line(shell, b"NodeDataChanged path:/top/a")
                self.await_line(shell, b"NodeDataChanged path:/alone")
        self.zksh(self.older, "deleteall /top; delete /alone")

    def test_a_session_that_is_moved_by_force_goes_on(self):
        """Its server learns that the session is another's: it refuses a write, and closes the connection."""
        with Proxy(self.older.port) as proxy:
            shell = self.shell(proxy.address)
            shell.stdin.write(b"create -e /mine x\n")
            self.await_line(shell, b"Created /mine")
            proxy.cut()
            self.await_line(shell, b"reconnected")
            session = proxy.last_greeting  # has its id and password
            with socket.create_connection(("127.0.0.1", self.newer.port)) as elsewhere:
                elsewhere.sendall(session)
                self.assertEqual(struct.unpack_from(">q", elsewhere.recv(64), 12), struct.unpack_from(">q", session, 20))
                shell.stdin.write(b"set /mine y\n")
                self.await_line(shell, b"reconnected")
            shell.stdin.write(b"set /mine z\n")
            wait_until(lambda: run_zksh("-s", self.newer.address, "get", "/mine").stdout == "z\n")


if __name__ == "__main__":
    unittest.main()
