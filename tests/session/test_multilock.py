"""Several locks at once: all or none, and no deadlock among contenders for several."""
import itertools
import random
import signal
import unittest

from lock_case import PYTHON, LockTest

PATHS = ("/a", "/b", "/c", "/d")
# Takes a file of each lock, as nobody else may have it: says so when one does.
ALONE = """
import os, sys
files = [os.path.join(sys.argv[1], name) for name in os.environ["ZKSH_LOCK_PATH"].replace("/", "").split()]
for file in files:
    os.close(os.open(file, os.O_CREAT | os.O_EXCL))
for file in files:
    os.unlink(file)
"""
STAY = ["cat"]


class MultiLock(LockTest):
    def multilock(self, *arguments, options=(), **how):
        return self.start(*options, "multilock", *arguments, **{"bufsize": 0, **how})

    def assert_all_free(self):
        for path in PATHS:
            self.assert_free(path)

    def contend(self, ways):
        """Shells that take two or three of four locks in any order, again and again; `ways`: their options in turn."""
        chance = random.Random(7)
        shells = []
        for number, way in zip(range(8), itertools.cycle(ways)):
            lines = []
            for _ in range(12):
                paths = chance.sample(PATHS, 2 + number % 2)
                lines.append(" ".join(["multilock -q", *way, *paths, "--", *PYTHON, "-c", f"$'{self.quoted(ALONE)}'",
                                       self.directory]))
            script = self.script(*lines, name=f"script{number}")
            with open(script, "rb") as file:
                shells.append(self.start(stdin=file))
        for shell in shells:
            self.assert_ends(shell, 0, timeout=600)
        self.assert_all_free()

    @staticmethod
    def quoted(text):
        return text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")

    def test_no_deadlock_in_order(self):
        self.contend([()])

    def test_no_deadlock_at_once(self):
        self.contend([("--atomic",)])

    def test_no_deadlock_between_both_kinds(self):
        self.contend([(), ("--atomic",)])

    def hold(self, *arguments):
        holder = self.multilock(*arguments, "--", *STAY)
        for path in arguments:
            if path.startswith("/"):
                self.wait_contenders(1, path)
        self.wait_said(holder, "acquired ")
        return holder

    def test_waits_for_the_one_that_is_busy(self):
        for way in ((), ("--atomic",)):
            with self.subTest(way):
                other = self.lock("--", *STAY, path="/b")
                self.wait_said(other, "acquired ")
                us = self.multilock(*way, "/c", "/b", "/a", "--", "echo", "done")
                self.assertRegex(self.wait_said(us, "waiting"), r"waiting /b: 2nd of 2, behind \S+@\S+ \d+ ")
                self.close_input(other)
                out, _ = self.assert_ends(us, 0, "acquired /c /b /a ", "released /c /b /a ")
                self.assertEqual(out, "done\n")
                self.assert_all_free()

    def test_an_interrupted_wait_gives_back_what_was_had(self):
        self.hold("/b")
        for way, number in itertools.product(((), ("--atomic",)), (signal.SIGINT, signal.SIGTERM)):
            with self.subTest(way=way, number=number):
                us = self.multilock(*way, "/a", "/b", "--", "true")
                self.wait_said(us, "waiting /b")
                us.send_signal(number)
                self.assert_ends(us, 128 + number)
                self.assert_free("/a")
                self.assertEqual(len(self.nodes("/b")), 1)

    def test_busy(self):
        self.hold("/b")
        for way, options in itertools.product(((), ("--atomic",)), (("-n",), ("-w", "10s"))):
            with self.subTest(way=way, options=options):
                status, _, err = self.run_brief("multilock", *way, *options, "/a", "/b", "--", "true")
                self.assertEqual(status, 75, err)
                self.assertRegex(err, r"(?m)^/b .*: it is held by \S+@\S+ \d+ cat$")
                self.assert_free("/a")

    def test_one_is_lost(self):
        for way in ((), ("--atomic",)):
            with self.subTest(way):
                holder = self.hold(*way, "/a", "/b")
                self.take_away("/b")
                self.wait_said(holder, "lost /a /b: its node was deleted")
                self.assert_ends(holder, 76)
                self.assert_all_free()

    def test_one_is_asked_for(self):
        status, out, err = self.run_zksh("multilock", "/a", "/b", "--detach")
        self.assertEqual(status, 0, err)
        pid = int(out.split()[1])
        node = f"/b/{self.nodes('/b')[0]}"
        self.assertEqual(self.run_zksh("unlock", node)[0], 0)
        self.wait_ended(pid)
        self.assert_all_free()

    def test_a_killed_holder_leaves_none(self):
        holder = self.multilock("/a", "/b", "--", *STAY, options=["-t", "15s"])
        self.wait_said(holder, "acquired ")
        us = self.multilock("--atomic", "/b", "/a", "--", "true")
        self.wait_said(us, "waiting /a")
        holder.kill()
        self.assert_ends(us, 0, "acquired /b /a ")

    def test_tokens(self):
        for way in ((), ("--atomic",)):
            with self.subTest(way):
                token = self.file("token")
                us = self.multilock(*way, "/b", "/a", "--token-file", token, "-c",
                                    "echo $ZKSH_LOCK_NODE; echo $ZKSH_LOCK_TOKEN; cat >&2")
                nodes, tokens = self.line(us).split(), self.line(us).split()
                self.assertEqual([node[:3] for node in nodes], ["/b/", "/a/"])
                for node, number in zip(nodes, tokens):
                    self.assertIn(f"cZxid = {int(number):#x}\n", self.run_zksh("stat", node)[1])
                self.assertEqual(self.text("token").split(), tokens)
                self.assert_ends(us, 0)


if __name__ == "__main__":
    unittest.main()
