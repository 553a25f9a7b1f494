#!/usr/bin/python3
"""A program is not ended for its lock while the servers are well, however long it had to wait for the lock."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster  # noqa: E402
from lock_waits import KINDS, WAITS, play_all  # noqa: E402
from network import Network  # noqa: E402
from server import Server  # noqa: E402

SESSION = 10  # seconds


class Waits(unittest.TestCase):
    def play(self, servers):
        with tempfile.TemporaryDirectory(prefix="zksh-waits-") as directory:
            number, problems = play_all(servers, directory, [SESSION], 1, len(KINDS) * len(WAITS))
        self.assertEqual(number, len(KINDS) * len(WAITS))
        self.assertEqual([], problems)

    def test_on_one_server(self):
        with Server() as server:
            self.play(server.address)

    def test_on_an_ensemble(self):
        with Network() as network, Cluster(network, tick=2000, sync_limit=5) as cluster:
            self.play(cluster.near)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
