"""Commands on large trees while the server is killed: it comes back, or stays away."""
import os
import time
import unittest

from tree_case import RECONNECTED, TreeTest, filled_paths, in_order_of_ls

NODES = 20000
DEPTH = 4


class Restarts(TreeTest):
    def test_lists_are_complete(self):
        paths = self.fill(NODES, DEPTH)
        plain = self.run_zksh("du", "-d", "9", "/tree")[1]
        for command in (("ls", "-R"), ("find",), ("du", "-d", "9")):
            with self.subTest(command):
                process = self.lasting(*command, "/tree")
                first = process.stdout.readline()
                self.restart(process)
                status, out, err = self.ended(process, first)
                self.assertEqual((status, err), (0, RECONNECTED))
                wanted = {"ls": in_order_of_ls(paths), "find": sorted(paths), "du": plain.splitlines()}
                self.assertEqual(out.splitlines(), wanted[command[0]])

    def test_rmr(self):
        paths = self.fill(NODES, DEPTH)
        process = self.lasting("rmr", "/tree")
        self.wait_node(paths[-1], there=False)
        self.restart(process)
        self.assertEqual(self.ended(process), (0, "", RECONNECTED))
        self.assertEqual(self.listed(), ["/"])

    def test_fill(self):
        paths = filled_paths(NODES, DEPTH)
        process = self.lasting("fill", "-n", str(NODES), "-d", str(DEPTH), "/tree")
        self.wait_node(paths[NODES // 4])
        self.restart(process)
        self.assertEqual(self.ended(process), (0, f"{NODES} nodes created below /tree\n", RECONNECTED))
        self.assertEqual(self.listed("/tree"), in_order_of_ls(paths))

    def test_set_acl(self):
        paths = self.fill(NODES, DEPTH)
        process = self.lasting("setAcl", "-R", "/tree", "world:anyone:cdra")
        self.wait_until(lambda: self.acl_version(paths[50]) > 0)
        self.restart(process)
        self.assertEqual(self.ended(process), (0, "", RECONNECTED))
        status, out, _ = self.run_zksh("dump", "/tree")
        self.assertEqual((status, out.count("\tpersistent\tworld:anyone:cdra\t")), (0, len(paths)))

    def test_one_that_stays_away(self):
        """As long as a session would last, but ten seconds at least, it is waited for."""
        paths = self.fill(12000, 1, "/a")
        self.fill(12000, 1, "/b")
        listing = self.file("listing")
        with open(listing, "wb") as file:
            commands = {
                "ls": self.slow("ls", "-R", "/a", stdout=file),
                "setAcl": self.slow("setAcl", "-R", "/a", "world:anyone:cdrwa"),
                "fill": self.slow("fill", "-n", "12000", "/c"),
                "rmr": self.slow("rmr", "/b"),
            }
        self.wait_until(lambda: os.path.getsize(listing) > 0)
        self.wait_until(lambda: self.acl_version(paths[50]) > 0)
        self.wait_until(lambda: self.number_of_children("/b") < 12000)
        self.wait_node("/c/n0000500")
        begun = time.monotonic()
        self.server.kill()
        told = {}
        for name, process in commands.items():
            status, _, told[name] = self.ended(process)
            self.assertEqual(status, 3, told[name])
            self.assertGreater(time.monotonic() - begun, 5)
            self.assertRegex(told[name], "no connection to SERVER: .+\n$")
        self.server.start()
        self.connect_znodes()
        made, unknown = self.numbers(told["fill"], r"(\d+) nodes were created; the outcome of (\d+) more is unknown\n")
        self.assertLessEqual(made, self.number_of_children("/c"))
        self.assertLessEqual(self.number_of_children("/c"), made + unknown)
        removed, found, unknown = self.numbers(
            told["rmr"], r"(\d+) of (\d+) nodes were deleted; the outcome of (\d+) more is unknown\n")
        self.assertEqual(found, 12001)
        left = self.number_of_children("/b") + 1
        self.assertLessEqual(found - removed - unknown, left)
        self.assertLessEqual(left, found - removed)

    def test_a_command_for_each_node_ends_with_the_connection(self):
        paths = self.fill(NODES, 1)
        process = self.start("-t", "2000", "find", "/tree", "-exec", "set {} x")
        self.wait_until(lambda: self.stat_number(paths[50], 32) > 0)
        self.server.kill()
        status, _, told = self.ended(process)
        self.assertIn(status, (3, 10), told)
        self.assertTrue(told.endswith("\nstopped: no connection; the rest was not run\n"), told[-500:])
        self.server.start()
        self.connect_znodes()


if __name__ == "__main__":
    unittest.main()
