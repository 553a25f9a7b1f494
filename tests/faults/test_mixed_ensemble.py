"""Walks that read many nodes at once, on an ensemble of ZooKeeper 3.4.13 and 3.8.0: the session moves in the middle.

Members of 3.4 end the connection at such a request, so it must not be sent to them, whoever was asked before.
"""
import os
import pathlib
import signal
import subprocess
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "session"))
from session_case import fetched  # noqa: E402
from ensemble import Ensemble  # noqa: E402
from proxy import Proxy  # noqa: E402
from server import server_version  # noqa: E402
from zksh import ZKSH, run_zksh  # noqa: E402

NODES = 1500


class MixedEnsemble(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if server_version() < (3, 6):
            raise unittest.SkipTest("needs a server that reads many nodes at once")
        old = fetched("3.4.13")
        cls.ensemble = Ensemble(3)
        cls.addClassCleanup(cls.ensemble.remove)
        cls.new, cls.old, _ = cls.ensemble.servers
        homes = {cls.new: os.environ.get("ZOOKEEPER_HOME"), cls.old: old, cls.ensemble.servers[2]: old}
        for server in cls.ensemble.servers:
            server.config["maxSessionTimeout"] = "60000"
            spawn, home = server._spawn, homes[server]

            def spawn_at_home(spawn=spawn, home=home):
                if not home:
                    return spawn()
                with unittest.mock.patch.dict(os.environ, {"ZOOKEEPER_HOME": home}):
                    return spawn()
            server._spawn = spawn_at_home
        cls.ensemble.__enter__()
        done = run_zksh("-s", cls.new.address, "-c", f"create /t x; fill -n {NODES} /t/n")
        assert done.returncode == 0, done.stderr
        # Without this, a member that has just been told may still be behind.
        done = run_zksh("-s", cls.old.address, "-c", "sync /t; count /t")
        assert done.stdout.split()[-1] == str(NODES + 2), done

    def walk(self, address, *words, rate=100):
        """For as long as its session lives it waits for a server, however long the members take to agree."""
        process = subprocess.Popen([ZKSH, "-s", address, "--connect-timeout", "30s", "-t", "60s", *words, "--rate", str(rate), "/t"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def finished(self, process, begun=b""):
        out, err = process.stdout.read(), process.stderr.read()  # not `communicate`, which lacks what was buffered
        self.assertEqual(0, process.wait(120), err)
        return (begun + out).decode().splitlines(), err.decode()

    def moves(self, first, second):
        """A walk that begins at one and ends at the other; the third has a quorum with either."""
        second.kill()
        first.wait_mode("leader", "follower")
        expected = run_zksh("-s", first.address, "ls", "-R", "/t").stdout.splitlines()
        self.assertEqual(NODES + 2, len(expected))
        process = self.walk(f"{first.address},{second.address}", "find")
        begun = b"".join(process.stdout.readline() for _ in range(20))
        process.send_signal(signal.SIGSTOP)  # however long the other one takes to start
        second.start()
        second.wait_mode("leader", "follower")
        first.kill()
        process.send_signal(signal.SIGCONT)
        found, err = self.finished(process, begun)
        first.start()
        first.wait_mode("leader", "follower")
        self.assertEqual(sorted(expected), sorted(found))
        self.assertIn("reconnected to", err)

    def test_from_the_new_to_the_old(self):
        self.moves(self.new, self.old)

    def test_from_the_old_to_the_new(self):
        self.moves(self.old, self.new)

    def test_an_address_behind_which_the_old_one_stands_all_at_once(self):
        with Proxy(self.new.port) as proxy:
            process = self.walk(proxy.address, "find")
            begun = b"".join(process.stdout.readline() for _ in range(20))
            proxy.move(self.old.port)
            found, err = self.finished(process, begun)
        self.assertEqual(NODES + 2, len(found))
        self.assertIn("reconnected to", err)


if __name__ == "__main__":
    unittest.main()
