"""Commands on large trees: --rate, --window, Ctrl-C, memory; trees that change meanwhile, or refuse."""
import os
import re
import signal
import time
import unittest

from tree_case import TreeTest, filled_paths, in_order_of_ls
from server import Server, needs

NOBODY = "digest:ann:AQEBAQEBAQEBAQEBAQEBAQEBAQE=:cdrwa"


class Limits(TreeTest):
    def test_rate(self):
        """What a tenth of a second allows may come at once."""
        for command in (("fill", "-n", "60", "/tree"), ("ls", "-R", "/tree"), ("find", "/tree"),
                        ("setAcl", "-R", "/tree", "world:anyone:cdrwa"), ("rmr", "--dry-run", "/tree"), ("rmr", "/tree")):
            with self.subTest(command):
                began = time.monotonic()
                status, _, err = self.run_zksh(*command, "--rate", "100")
                self.assertEqual((status, err), (0, ""))
                self.assertGreater(time.monotonic() - began, 0.4)

    def test_window_of_one(self):
        paths = filled_paths(500, 3)
        alone = ("--window", "1")
        self.assertEqual(self.run_zksh("fill", "-n", "500", "-d", "3", "/tree", *alone)[0], 0)
        self.assertEqual(self.run_zksh("ls", "-R", "/tree", *alone), (0, "\n".join(in_order_of_ls(paths)) + "\n", ""))
        self.assertEqual(self.run_zksh("find", "/tree", *alone), (0, "\n".join(sorted(paths)) + "\n", ""))
        self.assertEqual(self.run_zksh("setAcl", "-R", "/tree", "world:anyone:cdra", *alone), (0, "", ""))
        self.assertEqual({self.acl_version(path) for path in paths}, {1})
        self.assertEqual(self.run_zksh("rmr", "/tree", *alone), (0, "", ""))
        self.assertEqual(self.listed(), ["/"])

    def test_a_row_of_two_hundred_thousand(self):
        """Ctrl-C at full speed; memory."""
        count = 200000
        fill = ("fill", "-n", str(count), "/tree")
        process = self.start(*fill)
        self.wait_node("/tree/n0001000")
        made, unknown = self.told_at_interrupt(
            process, r"not complete: (\d+) nodes were created; the outcome of (\d+) more is unknown\n")
        there = self.number_of_children("/tree")
        self.assertLess(there, count)
        self.assertLessEqual(made, there)
        self.assertLessEqual(there, made + unknown)
        status, out, err = self.run_zksh(*fill, timeout=600)
        self.assertEqual((status, err), (0, ""))
        made, there = map(int, re.fullmatch(r"(\d+) nodes created below /tree, (\d+) existed already\n", out).groups())
        self.assertEqual(made + there, count)

        listing = self.file("listing")
        with open(listing, "wb") as file:
            process = self.start("ls", "-R", "/tree", stdout=file)
        self.wait_until(lambda: os.path.getsize(listing) > 0)
        self.interrupt(process)
        with open(listing, "wb") as file:
            self.assert_small(self.start("ls", "-R", "/tree", stdout=file))
        with open(listing, "rb") as file:
            self.assertEqual(sum(1 for _ in file), count + 1)

        self.connect_znodes()
        process = self.start("rmr", "/tree")
        self.wait_until(lambda: self.number_of_children("/tree") < count)
        removed, found, unknown = self.told_at_interrupt(
            process, r"not complete: (\d+) of (\d+) nodes were deleted; the outcome of (\d+) more is unknown\n")
        left = self.number_of_children("/tree") + 1
        self.assertLessEqual(found - removed - unknown, left)
        self.assertLessEqual(left, found - removed)
        self.assert_small(self.start("rmr", "/tree"))
        self.assertEqual(self.listed(), ["/"])

    def test_export_and_import_that_are_cut_short(self):
        self.fill(200, 1)
        whole, part = self.file("whole"), self.file("part")
        self.assertEqual(self.run_zksh("export", "/tree", whole)[:2], (0, f"201 nodes exported to {whole}\n"))
        process = self.start("export", "--rate", "40", "/tree", part)
        self.wait_until(lambda: os.path.isdir(part) and len(os.listdir(part)) > 3)
        written, = self.told_at_interrupt(process, rf"not complete: (\d+) nodes are in {part}\n")
        self.assertEqual(written, len(os.listdir(part)) + 1)
        self.assertLess(written, 201)

        process = self.start("import", "--rate", "40", whole, "/copy")
        self.wait_until(lambda: self.znodes.exists(self.root + "/copy")
                        and len(self.znodes.children(self.root + "/copy")) > 3)
        created, unknown = self.told_at_interrupt(
            process, r"not complete: created (\d+), set 0; the outcome of (\d+) more is unknown; run import again to continue\n")
        there = self.number_of_children("/copy") + 1
        self.assertLessEqual(created, there)
        self.assertLessEqual(there, created + unknown)
        self.assertEqual(self.run_zksh("import", whole, "/copy")[:2],
                         (0, f"created {201 - there}, set 0, unchanged {there}\n"))
        self.assertEqual(self.run_zksh("diff", "/tree", "/copy"), (0, "", ""))

    def interrupt(self, process):
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)

    def told_at_interrupt(self, process, pattern):
        """The numbers in what it says on stderr."""
        self.interrupt(process)
        err = process.stderr.read().decode()
        return self.numbers(err, f"^{pattern}$")

    def assert_small(self, process):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertLess(usage.ru_maxrss, 64 << 10)


class Hostile(TreeTest):
    def row_with_a_leaf_first(self):
        """More than 10 000 siblings; the one that the server names first is a leaf, 200 others are not."""
        self.fill(12000, 1)
        first, *others = self.znodes.children(self.root + "/tree")
        for name in others[::60]:
            self.znodes.create(f"{self.root}/tree/{name}/a")
            self.znodes.create(f"{self.root}/tree/{name}/a/b")
        return first, others

    def test_leaves_that_are_none(self):
        self.row_with_a_leaf_first()
        self.assertEqual(self.run_zksh("rmr", "/tree"), (0, "", ""))
        self.assertEqual(self.listed(), ["/"])

    def test_a_node_that_comes_meanwhile(self):
        self.row_with_a_leaf_first()
        self.znodes.create(self.root + "/tree/first")  # found before most of the others: goes after them
        before = self.number_of_children("/tree")
        process = self.lasting("rmr", "/tree", rate=1000)
        self.wait_until(lambda: self.number_of_children("/tree") < before)
        self.znodes.create(self.root + "/tree/new")
        status, out, err = self.ended(process)
        self.assertEqual((status, out, err), (8, "", "Failed to delete some node(s) in the subtree!\n"
                         f"{before + 400} of {before + 401} nodes were deleted; the first failure: Node not empty: /tree\n"))
        self.assertEqual(self.listed(), ["/", "/tree", "/tree/new"])

    def test_a_closed_node(self):
        """Of few nodes all are listed before any is removed; a part of a long row may be gone by then."""
        paths = self.fill(500, 2)
        closed = "/tree/n0000003"
        self.assertEqual(self.run_zksh("setAcl", "--force", closed, NOBODY)[0], 0)
        for command in (("rmr",), ("rm", "-r")):
            self.assertEqual(self.run_zksh(*command, "/tree"), (7, "", f"Insufficient permission : {closed}\n"))
        for path in set(paths) - {closed}:
            self.assertTrue(self.znodes.exists(self.root + path))
        self.assertIn(os.path.basename(closed), self.znodes.children(self.root + "/tree"))

    def test_a_closed_node_in_a_long_row(self):
        _, others = self.row_with_a_leaf_first()
        closed = "/tree/" + others[60]
        self.assertEqual(self.run_zksh("setAcl", "--force", closed, NOBODY)[0], 0)
        status, out, err = self.run_zksh("rmr", "/tree")
        self.assertEqual((status, out), (7, ""))
        self.assertRegex(err, r"^(not complete: \d+ of 12001 nodes were deleted; the outcome of 0 more is unknown\n)?"
                              f"Insufficient permission : {closed}\n$")
        self.assertTrue(self.znodes.exists(self.root + closed + "/a/b"))

    def test_nodes_that_may_not_be_removed(self):
        self.fill(500, 2)
        keeper = "/tree/n0000003"
        kept = self.listed(keeper)
        self.assertGreater(len(kept), 10)
        self.assertEqual(self.run_zksh("setAcl", keeper, "world:anyone:crwa")[0], 0)
        every = self.listed()
        for options, removed in ([], 0), (["--force"], 501 - len(kept) - 1):
            self.assertEqual(self.listed(), every)
            status, out, err = self.run_zksh("rmr", *options, "/tree")
            self.assertEqual((status, out), (7, ""))
            self.assertRegex(err, r"^Failed to delete some node\(s\) in the subtree!\n"
                             f"{removed} of 501 nodes were deleted; "
                             f"the first failure: Insufficient permission : {keeper}/n\\d+\n$")
        self.assertEqual(self.listed(), ["/", "/tree", *kept])


@needs(3, 6)
class SmallServer(TreeTest):
    """Many values are read with one request, and the server has the answer in memory, some of it several times."""

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(cls.config, jvm_flags=["-Xmx200m"]))
        cls.roots = 0

    def test_large_values_behind_many_small_ones(self):
        self.fill(10_000, 1)
        for i in range(45):
            self.znodes.create(f"{self.root}/tree/z{i:02}", b"x" * 1_000_000)
        for i in range(600):  # the server also keeps the last 500 writes
            self.znodes.create(f"{self.root}/tree/a{i:03}")
        for command in (("du", "-s", "/tree"), ("tree", "/tree"), ("count", "-a", "/tree"), ("dump", "/tree"),
                        ("diff", "/tree", "/tree"), ("grep", "-l", "xxxx", "/tree")):
            with self.subTest(command):
                status, out, err = self.run_zksh(*command)
                self.assertIsNone(self.server.process.poll(), "the server has no memory left")
                self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.split(), [f"/tree/z{i:02}" for i in range(45)])


if __name__ == "__main__":
    unittest.main()
