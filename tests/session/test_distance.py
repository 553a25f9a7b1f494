"""Servers far away: how many round trips commands take that read or write much."""
import unittest

from session_case import SessionTest
from proxy import Proxy
from server import needs

MANY = 20_000  # nodes, in four levels
FEWER = 2_000  # each of them takes a request of its own, too, and how many are in flight depends on the machine


class Distance(SessionTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.proxy = cls.enterClassContext(Proxy(cls.server.port, delay=0.075))

    def assert_round_trips(self, most, *arguments, status=0, **how):
        """Counts the end of the session, too. On a busy machine answers are slow, and less is in flight: so there are a few
        tries, and `most` is about double of what an idle one needs. One request after the other would be hundreds."""
        counts = []
        while len(counts) < 3 and min(counts, default=most + 1) > most:
            self.proxy.forget_round_trips()
            result, out, err = self.run_zksh(*arguments, server=self.proxy.address, **how)
            self.assertEqual(result, status, err)
            counts.append(self.proxy.round_trips)
        self.assertLessEqual(min(counts), most, arguments)
        return out

    def fill(self, count):
        self.run_zksh("fill", "-n", str(count), "-d", "4", "/tree")
        return self.root + "/tree"

    @needs(3, 6)
    def test_what_reads_many_nodes_with_a_request(self):
        tree = self.fill(MANY)
        self.assertEqual(self.assert_round_trips(16, "ls", "-R", tree).count("\n"), MANY + 1)
        self.assert_round_trips(16, "find", tree, "-name", "n0000007")
        self.assert_round_trips(16, "du", "-s", tree)
        self.assert_round_trips(16, "count", tree)
        self.assert_round_trips(18, "grep", "no value has this", tree, status=1)

    @needs(3, 6)
    def test_acls_and_writes(self):
        tree = self.fill(FEWER)
        dump = self.file("dump", self.assert_round_trips(12, "dump", tree))
        self.assert_round_trips(12, "diff", tree, "@" + dump)
        self.assert_round_trips(12, "cp", "-r", tree, self.root + "/copy")
        self.assert_round_trips(7, "apply", "-y", "--to", self.root + "/applied", dump)

    def test_pipe(self):
        self.run_zksh("create", "/a", "x")
        out = self.assert_round_trips(40, "--pipe", text=f"get {self.root}/a\n".encode() * 5000)
        self.assertEqual(out, "x\n" * 5000)


if __name__ == "__main__":
    unittest.main()
