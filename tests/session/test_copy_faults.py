"""cp, mv and apply while the server is killed: it comes back, or stays away."""
import unittest

from tree_case import RECONNECTED, TreeTest, filled_paths, in_order_of_ls
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.security import OPEN_ACL_UNSAFE
from proxy import Proxy

NODES = 2400
DEPTH = 4


class CopyTest(TreeTest):
    def dumped(self, top):
        """The nodes of a dump, without its first line, which has the path."""
        status, out, err = self.run_zksh("dump", top)
        self.assertEqual((status, err), (0, ""))
        return out.splitlines()[1:]

    def dump_of(self, count, top, value):
        """A file as `dump` writes it, of `fill`'s tree with other values."""
        lines = [f'{path[len("/tree"):] or "/"}\tpersistent\tworld:anyone:cdrwa\t"{value}"'
                 for path in filled_paths(count, 1)]
        return self.script(f"zksh-tree\t1\t{top}", *lines, "end", name="tree")


class Races(CopyTest):
    """What no transaction can check is seen all the same: a node that changes so while it is moved is not moved, or
    the end says that another one was."""

    def moved_while(self, change):
        """Moves a small tree slowly, while its top changes again and again."""
        kazoo = KazooClient(hosts=self.connect)
        kazoo.start()
        self.addCleanup(kazoo.close)
        self.addCleanup(kazoo.stop)
        # On a busy machine no change may come between its reading and its writing: then once more.
        for attempt in range(10):
            self.znodes.create(self.root + "/top", b"x")
            process = self.start("mv", "/top", f"/moved-{attempt}", "--rate", "2")
            while process.poll() is None:
                try:
                    change(kazoo)
                except NoNodeError:
                    break  # it was moved
            status, _, err = self.ended(process)
            if status != 0:
                break
        self.assertEqual(status, 6, err)
        self.assertRegex(err, "/top (was changed meanwhile; nothing was moved|was moved to /moved-[0-9], but the ACL of /top)")

    def test_mv_beside_setAcl(self):
        self.moved_while(lambda kazoo: kazoo.set_acls("/top", OPEN_ACL_UNSAFE))

    def test_mv_beside_a_node_that_is_made_anew(self):
        def make_anew(kazoo):
            both = kazoo.transaction()
            both.delete("/top")
            both.create("/top", b"another")
            if isinstance(both.commit()[0], NoNodeError):
                raise NoNodeError

        self.moved_while(make_anew)

    def left_by_mv_in_parts(self, change):
        """Moves a large tree, and changes a leaf once it is copied. It stays, with the nodes above it."""
        paths = self.fill(NODES, DEPTH)
        leaf = next(path for path in in_order_of_ls(paths) if path.count("/") == DEPTH + 1)
        process = self.lasting("mv", "--in-parts", "/tree", "/moved", rate=NODES // 5)
        self.wait_node(paths[NODES // 4].replace("/tree", "/moved"))
        change(leaf)
        status, _, err = self.ended(process)
        left = ["/" + "/".join(leaf.split("/")[1:depth]) for depth in range(2, DEPTH + 3)]
        self.assertEqual((status, err), (6, (
            f"/tree was copied to /moved, but {len(left)} of its {NODES + 1} nodes could not be deleted, or were "
            f"changed meanwhile; the first failure: version No is not valid : {leaf}\n")))
        self.assertEqual(self.listed("/tree"), left)
        self.assertEqual(len(self.listed("/moved")), NODES + 1)

    def test_mv_in_parts_beside_setAcl(self):
        def set_acl(leaf):
            self.assertEqual(self.run_zksh("setAcl", leaf, "world:anyone:cdra"), (0, "", ""))

        self.left_by_mv_in_parts(set_acl)

    def test_mv_in_parts_beside_a_node_that_is_made_anew(self):
        def make_anew(leaf):
            self.znodes.delete(self.root + leaf)
            self.znodes.create(self.root + leaf, b"another")

        self.left_by_mv_in_parts(make_anew)


class Restarts(CopyTest):
    def test_cp(self):
        paths = self.fill(NODES, DEPTH)
        process = self.lasting("cp", "-r", "/tree", "/copy", rate=NODES // 5)
        self.wait_node(paths[NODES // 4].replace("/tree", "/copy"))
        self.restart(process)
        self.assertEqual(self.ended(process), (0, "", RECONNECTED))
        self.assertEqual(self.dumped("/copy"), self.dumped("/tree"))

    def test_mv_that_copies(self):
        paths = self.fill(NODES, DEPTH)
        before = self.dumped("/tree")
        process = self.lasting("mv", "--in-parts", "/tree", "/moved", rate=NODES // 5)
        self.wait_node(paths[NODES // 4].replace("/tree", "/moved"))
        self.restart(process)
        self.assertEqual(self.ended(process), (0, "", RECONNECTED))
        self.assertEqual((self.dumped("/moved"), self.listed()[:2]), (before, ["/", "/moved"]))

    def test_mv_that_removes(self):
        paths = self.fill(NODES, DEPTH)
        before = self.dumped("/tree")
        process = self.lasting("mv", "--in-parts", "/tree", "/moved", rate=NODES // 5)
        self.wait_node(paths[-1], there=False)
        self.restart(process)
        self.assertEqual(self.ended(process), (0, "", RECONNECTED))
        self.assertEqual((self.dumped("/moved"), self.listed()[:2]), (before, ["/", "/moved"]))

    def test_apply(self):
        """What goes, what comes and what changes are in different parts of the tree."""
        self.fill(NODES // 4, 1, "/tree")
        self.fill(NODES // 4, 1, "/tree/z")
        file = self.dump_of(NODES // 2, "/tree", "new")
        process = self.lasting("apply", "--prune", "--yes", file, rate=NODES // 5)
        self.wait_node(f"/tree/n{NODES // 2 - NODES // 8:07}")
        self.restart(process)
        self.assertEqual(self.ended(process),
                         (0, f"created {NODES // 4}, set {NODES // 4 + 1}, ACLs 0, quotas 0, "
                             f"removed {NODES // 4 + 1}, unchanged 0\n", RECONNECTED))
        self.assertEqual(self.dumped("/tree"), self.text(file).splitlines()[1:])


class Away(CopyTest):
    """The server is killed and does not come back while the command waits."""

    def test_three_that_give_up(self):
        for top, count in (("/a", 8000), ("/b", 6000), ("/c", 8000)):
            self.fill(count, 1, top)
        file = self.dump_of(8000, "/c", "new")
        # The others take far longer than mv needs to begin to delete.
        commands = {"cp": self.slow("cp", "-r", "/a", "/a1"),
                    "mv": self.slow("mv", "--in-parts", "/b", "/b1", rate=1000),
                    "apply": self.slow("apply", "--prune", file)}
        self.wait_until(lambda: self.number_of_children("/b") < 6000)
        self.server.kill()
        told = {}
        for name, process in commands.items():
            status, _, told[name] = self.ended(process)
            self.assertEqual(status, 3, told[name])
            self.assertRegex(told[name], "no connection to SERVER: .+\n")
        self.server.start()
        self.connect_znodes()
        self.check_cp(told["cp"])
        self.check_mv(told["mv"])
        self.assertIn("not complete: created 0, set ", told["apply"])
        self.assertEqual(self.run_zksh("apply", file)[0], 0)
        self.assertEqual(self.dumped("/c"), self.text(file).splitlines()[1:])

    def check_cp(self, told):
        made, unknown = self.numbers(
            told, r"not complete: (\d+) nodes were copied to /a1; the outcome of (\d+) more is unknown\n")
        self.assertIn(self.number_of_children("/a1") + 1, range(made, made + unknown + 1))

    def check_mv(self, told):
        """The copy is whole; of the source there is what was not removed."""
        removed, found, unknown = self.numbers(
            told, r"not complete: /b was copied to /b1; (\d+) of its (\d+) nodes were deleted, "
                  r"the outcome of (\d+) more is unknown\n")
        self.assertEqual((found, self.number_of_children("/b1") + 1), (6001, 6001))
        left = self.number_of_children("/b") + 1
        self.assertIn(left, range(found - removed - unknown, found - removed + 1))


class LostAnswers(CopyTest):
    """Writes whose answers are lost. One that is sent again fails by its own first effect."""

    def ended_after_a_lost_answer(self, sign, *words):
        with Proxy(self.server.port) as proxy:
            proxy.swallow_after(sign)
            process = self.start(*words, server=proxy.address + self.root)
            self.wait_until(lambda: proxy.swallowed > 0)
            proxy.cut()
            status, out, err = self.ended(process)
            return status, out, err.replace(proxy.address, "SERVER")

    def test_import_blames_nobody(self):
        self.znodes.create(self.root + "/a", b"old")
        path = self.file("value", "written once")
        status, out, err = self.ended_after_a_lost_answer(b"written once", "import", path, "/a")
        self.assertEqual((status, out, err), (0, "created 0, set 1, unchanged 0\n", RECONNECTED))
        self.assertEqual(self.znodes.version(self.root + "/a"), 1)

    def test_an_acl_of_a_version_is_set_once(self):
        self.znodes.create(self.root + "/a")
        status, out, err = self.ended_after_a_lost_answer(b"192.0.2.7", "setAcl", "-R", "-v", "0", "/a",
                                                          "world:anyone:cdra,ip:192.0.2.7:r")
        self.assertEqual((status, out, err), (0, "", RECONNECTED))

    def test_a_move_whose_answer_is_lost(self):
        self.fill(500, 2)
        before = self.dumped("/tree")
        status, out, err = self.ended_after_a_lost_answer(f"{self.root}/moved/n".encode(), "mv", "/tree", "/moved")
        self.assertEqual((status, out), (10, ""))
        self.assertIn("\noutcome unknown: the connection was lost after the request was sent", err)
        self.assertEqual((self.dumped("/moved"), self.listed()[:2]), (before, ["/", "/moved"]))


if __name__ == "__main__":
    unittest.main()
