"""dump, apply and diff of whole trees: identical bytes, and the same tree after kills and restarts."""
import base64
import hashlib
import json
import random
import signal
import unittest

from session_case import SessionTest
from server import needs
from znodes import Znodes

NODES = 20000
HEADER = "zksh-tree\t1\t/tree\n"
OPEN = "persistent\tworld:anyone:cdrwa"


def tree_text(nodes=NODES, seed=5):
    """A tree of depth 4 with values of every kind."""
    chance = random.Random(seed)
    lines = ["/\t" + OPEN + "\tnull\n"]
    values = ["null", '""', '"text"', '"null"', "base64:AP8=", '"\\x00\\x01\\n\\t\\"\\\\ ü"']
    acls = ["world:anyone:cdrwa", "world:anyone:r,ip:127.0.0.1:cdrwa", "digest:ann:" + "A" * 27 + "=:cdrwa,world:anyone:cdrwa"]

    def grow(path, left, depth):
        while left > 0:
            size = left if depth == 3 else min(left, chance.randint(1, 400))
            names = sorted({f"n{chance.randrange(10 ** 7)}" for _ in range(min(size, 30))})
            for name in names:
                below = f"{path}/{name}"
                value = chance.choice(values + [json.dumps("x" * chance.randrange(300))])
                lines.append(f"{below}\tpersistent\t{chance.choice(acls)}\t{value}\n")
                left -= 1
                if depth < 3:
                    share = min(left, 20 ** (3 - depth))
                    grow(below, share, depth + 1)
                    left -= share
            return

    grow("", nodes, 0)
    return HEADER + "".join(lines) + "end\n"


def body(text):
    return text.split("\n", 1)[1]


class Trees(SessionTest):
    def write(self, text, name="tree"):
        return self.file(name, text)

    def dump(self, path, *options):
        status, out, err = self.run_zksh(*options, "dump", path)
        self.assertEqual((status, err), (0, ""))
        return out

    def apply(self, *arguments):
        status, out, err = self.run_zksh("apply", *arguments)
        self.assertEqual((status, err), (0, ""), out)
        return out

    def test_the_same_bytes_again(self):
        text = tree_text()
        count = text.count("\n") - 2
        self.assertGreater(count, NODES / 2)
        tree = self.write(text)
        self.assertEqual(self.apply(tree), f"created {count}, set 0, ACLs 0, quotas 0, removed 0, unchanged 0\n")
        self.assertEqual(self.dump("/tree"), text)
        self.assertEqual(self.apply(tree), f"created 0, set 0, ACLs 0, quotas 0, removed 0, unchanged {count}\n")
        as_json = self.dump("/tree", "-o", "json")
        self.apply("--to", "/other", self.write(as_json, "json"))
        self.assertEqual(body(self.dump("/other")), body(text))
        self.assertEqual(body(self.dump("/other", "-o", "json")), body(as_json))
        self.assertEqual(self.run_zksh("diff", "/tree", "/other"), (0, "", ""))
        self.assertEqual(self.run_zksh("diff", "@" + tree, f"zk://{self.connect}/other"), (0, "", ""))

    def test_killed_anywhere_and_run_again(self):
        text = tree_text(seed=6)
        tree = self.write(text)
        for seen in (1, 3000, 9000):
            process = self.start("apply", "--rate", "1000", tree)
            self.wait_created(text, seen)
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertNotEqual(self.dump("/tree"), text)
        self.apply(tree)
        self.assertEqual(self.dump("/tree"), text)

    def wait_created(self, text, number):
        """Until so many of the nodes of a text are there."""
        path = text.split("\n")[1 + number].partition("\t")[0]
        self.wait_until(lambda: self.znodes.exists(self.root + "/tree" + path))

    def test_a_server_that_restarts_meanwhile(self):
        text = tree_text(seed=7)
        tree = self.write(text)
        process = self.start("-t", "60000", "apply", "--rate", "10000", tree)
        self.wait_created(text, 2000)
        self.server.kill()
        self.server.start()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn(b"set 0, ACLs 0, quotas 0, removed 0", out)
        self.assertEqual(self.dump("/tree"), text)

    def test_a_dump_outlives_a_restart(self):
        text = tree_text(seed=8)
        self.apply(self.write(text))
        process = self.start("-t", "60000", "dump", "--rate", "20000", "/tree")
        first = process.stdout.readline()
        self.server.kill()
        self.server.start()
        out = process.stdout.read()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual((first + out).decode(), text)

    def test_prune_removes_the_rest_and_no_ephemeral(self):
        tree = self.write(tree_text(nodes=300))
        self.apply(tree)
        before = self.dump("/tree")
        with Znodes(self.server.address) as other:
            for path in ("/tree/a", "/tree/a/b", "/tree/z", "/tree/z/y", "/tree/z/y/x"):
                other.create(self.root + path)
            other.create(self.root + "/tree/z/here", flags=1)
            out = self.apply("--prune", tree)
            self.assertIn("removed 4, ", out)
            self.assertIn("; 1 ephemeral were left; 1 above ephemerals were left", out)
            status, out, err = self.run_zksh("dump", "/tree")
            self.assertEqual((status, err), (0, "1 ephemeral node was left out\n"))
            self.assertTrue(out.endswith("# 1 ephemeral node was left out\nend\n"))
        self.wait_gone("/tree/z/here")
        self.assertIn("removed 1, ", self.apply("--prune", tree))
        self.assertEqual(self.dump("/tree"), before)

    def test_only_what_differs_is_written(self):
        tree = self.write(tree_text(nodes=100))
        self.apply(tree)
        before = self.dump("/tree")
        first, second = (line.split("\t")[0] for line in before.splitlines()[2:4])
        self.run_zksh("set", f"/tree{first}", "else")
        self.run_zksh("setAcl", f"/tree{second}", "world:anyone:cdra")
        status, out, err = self.run_zksh("diff", "/tree", "@" + tree)
        self.assertEqual((status, err, out.count("\n")), (1, "", 2))
        status, out, err = self.run_zksh("apply", "--dry-run", tree)
        self.assertEqual((status, err, out.count("would ")), (0, "", 2))
        self.assertEqual(self.run_zksh("diff", "/tree", "@" + tree)[0], 1)
        self.assertIn("created 0, set 1, ACLs 1, quotas 0, removed 0", self.apply("-v", tree))
        self.assertEqual(self.dump("/tree"), before)

    def test_a_bad_file_changes_nothing(self):
        whole = tree_text(nodes=50)
        lines = whole.splitlines(keepends=True)
        hostile = {
            "cut": whole[:-4], "cut in a line": whole[:len(whole) // 2],
            "order": "".join(lines[:2] + [lines[3], lines[2]] + lines[4:]) if "/" in lines[3] else "",
            "nonsense": whole.replace("persistent", "p\x1b[31m", 3), "binary": "\0\x01\x02", "empty": "",
            "version": whole.replace("\t1\t", "\t99\t", 1), "top": whole.replace("/tree", "tree", 1),
            "up": whole.replace(lines[2].split("\t")[0], "/..", 1)}
        for name, text in hostile.items():
            with self.subTest(name):
                status, out, err = self.run_zksh("apply", self.write(text, "bad"))
                self.assertEqual((status, out), (2, ""), err)
                self.assertRegex(err, r"bad:\d*:? ")
                self.assertNotIn("\x1b", err)
                self.assertFalse(self.znodes.exists(self.root + "/tree"))

    def test_standard_input(self):
        text = tree_text(nodes=40)
        status, out, err = self.run_zksh("apply", "-", text=text.encode())
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.run_zksh("diff", "-", "/tree", text=text.encode()), (0, "", ""))
        status, out, err = self.run_zksh("apply", "--to", "/cut", "-", text=text[:-4].encode())
        self.assertEqual(status, 2)
        self.assertIn("truncated", err)

    def test_an_acl_that_locks_this_session_out(self):
        digest = "digest:ann:" + base64.b64encode(b"\1" * 20).decode() + ":cdrwa"
        nodes = [f"/\tpersistent\t{digest}\tnull", f"/a\tpersistent\t{digest}\t\"secret\"",
                 f"/a/b\tpersistent\t{digest}\t\"secret\"", f"/c\tpersistent\t{digest}\tnull"]
        tree = self.write(HEADER + "\n".join(nodes) + "\nend\n")
        self.assertEqual(self.apply(tree), "created 4, set 0, ACLs 2, quotas 0, removed 0, unchanged 0\n")
        for path in ("/tree", "/tree/a", "/tree/a/b", "/tree/c"):
            status, _, err = self.run_zksh("get", path)
            self.assertEqual((status, err), (7, f"Insufficient permission : {path}\n"))
        status, out, err = self.run_zksh("apply", tree)
        self.assertEqual(status, 1)
        self.assertIn("cannot be compared", err)

    def test_a_closed_tree_is_never_open(self):
        digest = base64.b64encode(hashlib.sha1(b"ann:secret").digest()).decode()
        closed = f"persistent\tdigest:ann:{digest}:cdrwa\t"
        lines = [f"/\t{closed}null"] + [f"/n{number:05}\t{closed}\"x\"" for number in range(3000)]
        text = HEADER + "\n".join(lines) + "\nend\n"
        tree = self.write(text)
        process = self.start("apply", "--rate", "1000", tree)
        self.wait_node("/tree/n00100")
        status, out, err = self.run_zksh("getAcl", "/tree")
        self.assertEqual((status, err), (0, ""))
        self.assertNotIn("world", out)
        self.assertEqual(self.run_zksh("get", "/tree/n00000")[0], 7)
        process.send_signal(signal.SIGKILL)
        process.wait()
        status, out, err = self.run_zksh("apply", tree)
        self.assertEqual(status, 1)
        self.assertIn("further conflicts are only counted", err)
        auth = self.file("auth", "digest ann:secret\n")
        self.assertEqual(self.run_zksh("--auth-file", auth, "dump", "/tree"), (0, text, ""))

    @needs(3, 5)  # containers
    def test_quota_container_and_what_is_in_the_way(self):
        self.assertEqual(self.run_zksh("create", "/e", server=self.server.address)[0] in (0, 5), True)
        text = (f"zksh-tree\t1\t/e/q\n/\t{OPEN}\tnull\tquota:count=100,byteHardLimit=5000\n"
                f"/c\tcontainer\tworld:anyone:cdrwa\tnull\n/c/d\t{OPEN}\tnull\nend\n")
        tree = self.write(text)
        whole = {"server": self.server.address}
        status, out, err = self.run_zksh("apply", tree, **whole)
        self.assertEqual((status, err, out), (0, "", "created 3, set 0, ACLs 0, quotas 1, removed 0, unchanged 0\n"))
        # The servers do not tell that it is a container.
        self.assertEqual(self.run_zksh("dump", "/e/q", **whole), (0, text.replace("container", "persistent"), ""))
        self.assertEqual(self.run_zksh("diff", "@" + tree, "/e/q", **whole), (0, "", ""))
        self.assertIn("countHardLimit=-1", self.run_zksh("listquota", "/e/q", **whole)[1])
        other = self.write(text.replace("container", "persistent").replace("\tquota:count=100,byteHardLimit=5000", ""), "other")
        status, out, err = self.run_zksh("diff", "@" + tree, "@" + other, **whole)
        self.assertEqual((status, out), (1, "! /\tquota: count=100,byteHardLimit=5000 | none\n! /c\tkind: container | persistent\n"))
        status, out, err = self.run_zksh("apply", "--prune", other, **whole)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("quotas 1", out)
        self.assertEqual(self.run_zksh("listquota", "/e/q", **whole)[0], 4)


if __name__ == "__main__":
    unittest.main()
