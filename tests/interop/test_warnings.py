#!/usr/bin/python3
"""zksh warns on standard error about incompatible libraries, and only about these.

Each library's real contender holds a lock; zksh queues up behind it, with each of its kinds of names.
"""
import re
import signal
import subprocess
import unittest

from interop_case import DEADLINE, PROGRAMS, ZKSH, InteropTest
from peers import Peer, command
from server import die_with_parent, needs

HOUR_US = 3600 * 1000 * 1000

OURS = {
    "lock": ("lock", "PATH", "--compat", "curator"),
    "lock kazoo": ("lock", "PATH", "--compat", "kazoo"),
    "lock all": ("lock", "PATH", "--compat", "all"),
    "write": ("rwlock", "PATH", "write", "--compat", "curator"),
    "write all": ("rwlock", "PATH", "write", "--compat", "all"),
    "read": ("rwlock", "PATH", "read", "--compat", "curator"),
    "read all": ("rwlock", "PATH", "read", "--compat", "all"),
}
# Where nobody says which names zksh takes Curator's, unless somebody is there who would not see them.
UPGRADE = (r"other contenders here would not see Curator's names; queueing with names that all libraries see "
           r"\(--compat all\)")
# Their contender, whose names are like this; and what zksh must warn of, by our kind. All other pairings work.
FAILS = "fails, if it is one of samuel/go-zookeeper, on the name of this lock"
DEADLOCK = "has a writer behind it: a ReadLock of kazoo before 2.9 waits for that writer forever"
USE_ALL = "cannot see this lock (use --compat all)"
USE_RWLOCK = "cannot see this lock (use --compat all, or use rwlock)"
EXTRA_LOCK = 'cannot see this lock (use --compat all, or give it extra_lock_patterns=["lock-"])'
EXTRA_BOTH = ('cannot see this lock (use --compat all, or give it '
              'extra_lock_patterns=["__READ__", "__WRIT__"])')
EXTRA_WRITE = 'cannot see this lock (use --compat all, or give it extra_lock_patterns=["__WRIT__"])'
THEIRS = {
    ("curator", "mutex"): (r"Curator contender _c_\w{8}…-lock-\d{10}",
                           {"lock kazoo": USE_ALL, "write": USE_ALL, "read": USE_ALL}),
    ("curator", "write"): (r"Curator writer _c_\w{8}…-__WRIT__\d{10}", {"lock": USE_RWLOCK, "lock kazoo": USE_ALL}),
    ("curator", "read"): (r"Curator reader _c_\w{8}…-__READ__\d{10}", {"lock": USE_RWLOCK, "lock kazoo": USE_ALL}),
    ("kazoo", "mutex"): (r"kazoo contender \w{8}…__lock__\d{10}",
                         {"lock": EXTRA_LOCK, "write": EXTRA_BOTH, "read": EXTRA_BOTH}),
    ("kazoo", "read"): (r"kazoo reader \w{8}…__rlock__\d{10}",
                        {"lock": EXTRA_LOCK, "write": EXTRA_WRITE, "lock kazoo": DEADLOCK, "lock all": DEADLOCK,
                         "write all": DEADLOCK}),
    ("go", "mutex"): (r"go-zookeeper contender _c_\w{8}…-lock-\d{10}",
                      {"lock kazoo": FAILS, "lock all": FAILS, "write": FAILS, "write all": FAILS,
                       "read": FAILS, "read all": FAILS}),
    ("writelock", "mutex"): (r"WriteLock contender x-\d+-\d{10}",
                             {"lock kazoo": USE_ALL, "write": USE_ALL, "read": USE_ALL}),
}


@needs(3, 5)  # what Curator needs
class Warnings(InteropTest):
    def hold(self, name, kind):
        """The path of a lock that a peer holds until the end of the test."""
        peer = Peer(command(name, PROGRAMS, quick_start=True), self.server.address)
        self.addCleanup(peer.close)
        self.addCleanup(peer.process.kill)
        path = self.path()
        peer.start(path, kind, 1, HOUR_US)
        self.wait_until(lambda: self.left(path))
        return path

    def warnings(self, path, words):
        """What zksh warns of while it waits behind those who are there; it is interrupted then."""
        theirs = self.nodes(path)
        with subprocess.Popen(
                [ZKSH, "-s", self.server.address, *(path if word == "PATH" else word for word in words)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                preexec_fn=die_with_parent) as process:
            self.wait_until(lambda: self.watchers(theirs) or process.poll() is not None)
            process.terminate()
            said = process.communicate(timeout=DEADLINE)[1].decode()
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, said)
        self.assertEqual(self.nodes(path), theirs, said)
        return [line.removeprefix("warning: ") for line in said.splitlines() if line.startswith("warning: ")]

    def assert_warnings(self, said, expected):
        self.assertEqual(len(said), len(expected), (said, expected))
        for text, pattern in zip(said, expected):
            self.assertRegex(text, f"^{pattern}$")

    def test_of_all_pairings(self):
        for (name, kind), (contender, flaws) in THEIRS.items():
            path = self.hold(name, kind)
            flaws = {ours: [f"{contender} {re.escape(flaw)}"] for ours, flaw in flaws.items()}
            for ours, words in OURS.items():
                if kind == "read" and ours.startswith("read"):
                    continue  # readers wait for no readers
                with self.subTest(name=name, kind=kind, ours=ours):
                    self.assert_warnings(self.warnings(path, words), flaws.get(ours, []))
                if "curator" in words:
                    with self.subTest(name=name, kind=kind, ours=ours, names="not chosen"):
                        expected = []
                        if ours in flaws:
                            expected = [f"{path}: {UPGRADE}", *flaws.get(f"{ours} all", [])]
                        self.assert_warnings(self.warnings(path, words[:-2]), expected)


if __name__ == "__main__":
    unittest.main()
