"""zksh with servers of other releases: writes, locks and refusals, without losing the session.

On ZooKeeper 3.4.13 and 3.9.3, or on those that ZKSH_TEST_SERVERS names ("3.4.13 3.8.0", or a directory of jars).
What cannot be fetched is skipped.
"""
import json
import os
import re
import tempfile
import unittest
import unittest.mock

from session_case import fetched
from server import Server
from zksh import environment, run_zksh

VERSIONS = (os.environ.get("ZKSH_TEST_SERVERS") or "3.4.13 3.9.3").split()
LOCKS = ("lock /l", "rlock /r", "wlock /r", "semaphore /s 2", "multilock /m /n", "multilock --atomic /m /n",
         "lock --compat all /l", "lock --recipe exclusive /x")


class Versions:
    """What is tried on each; a class for each version is made of it below."""
    version = None

    @classmethod
    def setUpClass(cls):
        home = cls.version if "/" in cls.version else fetched(cls.version)
        cls.is_old = os.path.basename(home).startswith("3.4")
        with unittest.mock.patch.dict(os.environ, {"ZOOKEEPER_HOME": home}):
            cls.server = Server(extended_types=True).start()
        cls.addClassCleanup(cls.server.remove)

    def zksh(self, *words, status=0, text=None):
        """What it says on stdout and stderr; its session is never without a connection."""
        with tempfile.TemporaryDirectory() as home:
            done = run_zksh("-s", self.server.address, *words, input=text, env=environment(home))
        self.assertEqual(status, done.returncode, done.stderr)
        self.assertNotIn("connection lost", done.stderr)
        return done.stdout, done.stderr

    def test_watches_of_subtrees(self):
        script = ("create /watched", "create /watched/shut x world:anyone:cda", "addWatch /watched",
                  "delete /watched/shut", "create /watched/open", "watch -R -n 1 /watched", "sync /")
        if self.is_old:
            out, err = self.zksh("-k", "-f", "-", text="".join(line + "\n" for line in script), status=12)
            for line in (3, 6):
                self.assertRegex(err, "ZooKeeper 3.6 or later is required for persistent and recursive watches, but this server "
                                      rf"has version 3.4.13\nstdin:{line}: failed")
            self.assertNotIn("WATCHER", out)
            return
        out, _ = self.zksh(text="".join(line + "\n" for line in script if "-R" not in line))
        self.assertIn("type:NodeCreated path:/watched/open", out)
        self.assertNotIn("/watched/shut", out)

    def test_nodes(self):
        script = """create /a x
            create -s -e /a/e- y
            ls /a
            set /a z
            get /a
            setAcl /a world:anyone:cdrwa
            touch /a/t
            setquota -n 100 /a
            listquota /a
            delquota -n /a
            fill -n 50 /a/f
            count /a/f
            rmr /a/f
            delete /a/t
            whoami
            getEphemerals /a
            getAllChildrenNumber /a
            ls /a
            get -w /a
            removewatches /a
            sync /a"""
        out, _ = self.zksh("-f", "-", text=re.sub("(?m)^ +", "", script))
        for expected in ("e-0000000000\n", "\nz\n", "\n51\n", "\nSync is OK\n"):
            self.assertIn(expected, out)
        self.zksh("-c", "rmr /a")

    def test_locks(self):
        for line in LOCKS:
            with self.subTest(line=line):
                out, err = self.zksh(*line.split(), "--", "sh", "-c", "echo $ZKSH_LOCK_TOKEN")
                self.assertGreater(min(map(int, out.split())), 0, err)

    def test_a_queue(self):
        out, _ = self.zksh("contend", "/c", "-n", "5")
        self.assertRegex(out, r"acquisitions +5\n")
        self.assertRegex(out, r"watches left +[0-]\n")

    def test_what_came_later(self):
        script = "create -e /mine x\nlock /held\ncreate -c /container\ncreate -t 100000 /ttl\nconfig\nls /held\nget /mine\nunlock\n"
        if not self.is_old:
            out, err = self.zksh("-k", "-f", "-", text=script)
            self.assertNotIn("Unimplemented", err)
        else:
            out, err = self.zksh("-k", "-f", "-", text=script, status=12)
            for what in ("containers", "nodes with a TTL", "the ensemble's configuration"):
                self.assertIn(f"ZooKeeper 3.5 or later is required for {what}, but this server has version 3.4.13", err)
        self.assertRegex(out, r"(?m)^_c_.*-lock-\d+$")  # the session was not lost on the way
        self.assertRegex(out, r"(?m)^x$")

    def test_apply_names_what_the_server_lacks(self):
        for life, what in (("container", "containers"), ("ttl=100000", "nodes with a TTL")):
            tree = (f"zksh-tree\t1\t/made\n/\tpersistent\tworld:anyone:cdrwa\tnull\n"
                    f"/a\t{life}\tworld:anyone:cdrwa\tnull\nend\n")
            done = run_zksh("-s", self.server.address, "apply", "-", input=tree)
            self.zksh("rmr", "/made")
            self.assertEqual(12 if self.is_old else 0, done.returncode, done.stderr)
            if self.is_old:
                self.assertIn(f"ZooKeeper 3.5 or later is required for {what}, but this server has version 3.4.13", done.stderr)

    def test_a_sandbox(self):
        if "/" in self.version:
            self.skipTest("--zookeeper is tried with versions")
        done = run_zksh("--sandbox=3" if self.is_old else "--sandbox", "--zookeeper", self.version,
                        "-c", "create /a x; get /a" + "; sandbox" * 10, timeout=100)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertTrue(done.stdout.startswith("x\n"), done.stdout)
        # One of a busy machine may now and then answer too late to be listed as such.
        serving = {line.split()[0] for line in done.stdout.splitlines() if "serving" in line}
        self.assertEqual({"1", "2", "3"} if self.is_old else {"1"}, serving, done.stdout)

    def test_a_version_that_is_not_there(self):
        done = run_zksh("--sandbox", "--zookeeper", "1.2.3", "-c", "ls /")
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("fetch_servers.py 1.2.3", done.stderr)
        self.zksh("--zookeeper", self.version, "-c", "ls /", status=2)

    def test_what_may_not_be_read(self):
        # Since 3.9 the servers hide the Stat, too: nobody knows whether there are children.
        script = "create /unread; create /unread/shut x; create /unread/shut/below y; setAcl /unread/shut world:anyone:cdwa"
        self.zksh("-c", script)
        for line in ("count /unread", "du /unread", "find /unread", "tree /unread"):
            _, err = self.zksh(*line.split(), status=7)
            self.assertEqual(err, "incomplete: no permission to list /unread/shut\n", line)
        out, _ = self.zksh("find", "/unread", "-max-depth", "1", "-older", "30d", "-delete", status=0 if self.is_old else 7)
        self.assertEqual("", out)
        self.assertEqual("[shut]\n", self.zksh("ls", "/unread")[0])
        self.assertEqual(self.zksh("exists", "/unread/shut")[0], "/unread/shut: yes\n")
        self.zksh("setAcl", "-s", "/unread/shut", "world:anyone:wa")
        self.assertEqual(self.zksh("getAcl", "-o", "plain", "/unread/shut")[0], "world:anyone:wa\n")
        contender = "/unseen/_c_01234567-89ab-cdef-0123-456789abcdef-lock-"
        script = f"create /unseen; create -e -s {contender} secret world:anyone:a; locks -o json /unseen; revoke --force /unseen; ls /unseen"
        out, err = self.zksh("-c", script)
        holder, = json.loads(out)["contenders"]
        self.assertEqual((holder["state"], holder["owner"]), ("holds", None))
        self.assertIn(f"deleted {contender}0000000000;", err)

    def test_a_predecessor_that_may_not_be_read(self):
        # Where servers hide the Stat, too, nothing would end the wait.
        node = "/hides/_c_01234567-89ab-cdef-0123-456789abcdef-lock-"
        _, err = self.zksh("-c", f"create /hides; create -e -s {node} x world:anyone:a; lock -w 10s /hides; ls /hides",
                           status=75 if self.is_old else 7)
        self.assertIn("was not acquired in time" if self.is_old else f"Insufficient permission : {node}0000000000", err)
        self.assertEqual("[]\n", self.zksh("ls", "/hides")[0])

    def test_locks_together_whose_parents_are_missing(self):
        self.zksh("multilock", "--atomic", "/together/a", "/together/b", "--", "true")

    def test_parents_of_locks(self):
        self.zksh("lock", "/deep/er/l", "--", "true")
        out, _ = self.zksh("-c", "ls /deep/er")
        self.assertEqual("l\n", out)


for named in VERSIONS:
    name = "Version" + re.sub(r"\W+", "_", os.path.basename(named))
    globals()[name] = type(name, (Versions, unittest.TestCase), {"version": named})


if __name__ == "__main__":
    unittest.main()
