"""TTL and container nodes, on a server with extended types enabled."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import Server  # noqa: E402
from waiting import wait_until  # noqa: E402
from zksh import run_zksh  # noqa: E402

# How often the server looks for nodes to remove.
QUICK_CLEANING = ["-Dznode.container.checkIntervalMs=200"]


class NodeLifetimes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(extended_types=True, jvm_flags=QUICK_CLEANING))

    def zksh(self, *words):
        return run_zksh("-s", self.server.address, *words)

    def await_gone(self, path):
        wait_until(lambda: self.zksh("stat", path).returncode == 4)

    def test_a_node_with_a_ttl_goes_when_its_time_has_passed(self):
        done = self.zksh("create", "-t", "300", "/timed", "x")
        self.assertEqual((0, "Created /timed\n"), (done.returncode, done.stderr))
        self.await_gone("/timed")

    def test_a_sequential_node_can_have_a_ttl(self):
        done = self.zksh("-o", "plain", "create", "-s", "-t", "300", "/numbered-", "x")
        self.assertRegex(done.stdout, r"^/numbered-\d{10}\n$")
        self.await_gone(done.stdout.strip())

    def test_a_node_with_a_long_ttl_stays(self):
        self.assertEqual(0, self.zksh("create", "-t", "600000", "/lasting", "x").returncode)
        self.assertEqual(0, self.zksh("create", "-t", "300", "/passing", "x").returncode)
        self.await_gone("/passing")  # the server has looked by now
        self.assertEqual(0, self.zksh("stat", "/lasting").returncode)

    def test_a_container_goes_after_its_last_child(self):
        done = self.zksh("-c", "create -c /box; create /box/child x; delete /box/child")
        self.assertEqual(0, done.returncode, done.stderr)
        self.await_gone("/box")

    def test_a_container_with_a_child_stays(self):
        self.assertEqual(0, self.zksh("-c", "create -c /full; create /full/child x").returncode)
        self.assertEqual(0, self.zksh("-c", "create -c /empty; create /empty/x; delete /empty/x").returncode)
        self.await_gone("/empty")  # the server has looked by now
        self.assertEqual(0, self.zksh("stat", "/full").returncode)


if __name__ == "__main__":
    unittest.main()
