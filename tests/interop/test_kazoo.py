#!/usr/bin/python3
"""kazoo and zksh take turns on a lock, one handoff at a time.

More cannot be tested with kazoo's ReadLock: before 2.9 a reader waits for writers behind it too, so that a reader and a
writer that both loop wait for each other for ever, whoever the writer is (kazoo's issue 649).
"""
import subprocess
import threading
import unittest

from interop_case import DEADLINE, ZKSH, InteropTest
from kazoo.client import KazooClient
from server import die_with_parent

# zksh's names, and what kazoo has to be told to see them.
FLEETS = (("all", ()), ("kazoo", ()), ("curator", ("__WRIT__",)))


class Kazoo(InteropTest):
    def setUp(self):
        super().setUp()
        self.kazoo = KazooClient(hosts=self.server.address)
        self.kazoo.start()
        self.addCleanup(self.kazoo.close)
        self.addCleanup(self.kazoo.stop)

    def zksh(self, *words):
        """It says `held` when it holds the lock, and does so until its standard input is closed."""
        process = subprocess.Popen(
            [ZKSH, "-s", self.server.address, *words, "--", "sh", "-c", "echo held; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def release(self, process):
        process.stdin.close()
        self.assertEqual(process.wait(DEADLINE), 0)

    def held(self, process):
        self.assertEqual(process.stdout.readline(), b"held\n")

    def reader(self, path, extra):
        return self.asked(self.kazoo.ReadLock(path, extra_lock_patterns=extra))

    def asked(self, lock):
        """A lock of kazoo that a thread asks for, and the event that it holds it."""
        holds = threading.Event()
        threading.Thread(target=lambda: lock.acquire() and holds.set(), daemon=True).start()
        return lock, holds

    def kazoo_waits(self, nodes):
        """zksh watches its own nodes too, so it takes a look at whose watches there are."""
        return f"{self.kazoo.client_id[0]:#x}" in self.watchers(nodes)

    def test_a_reader_waits_for_our_writer(self):
        for compat, extra in FLEETS:
            with self.subTest(compat=compat):
                path = self.path()
                writer = self.zksh("rwlock", path, "write", "--compat", compat)
                self.held(writer)
                ours = self.nodes(path)
                lock, holds = self.reader(path, extra)
                self.wait_until(lambda: self.kazoo_waits(ours))
                self.assertFalse(holds.is_set())
                self.release(writer)
                self.assertTrue(holds.wait(DEADLINE))
                lock.release()
                self.assertEqual(self.left(path), [])

    def test_our_writer_waits_for_a_reader(self):
        for compat, extra in FLEETS:
            with self.subTest(compat=compat):
                path = self.path()
                lock, holds = self.reader(path, extra)
                self.assertTrue(holds.wait(DEADLINE))
                theirs = self.nodes(path)
                writer = self.zksh("rwlock", path, "write", "--compat", compat)
                self.wait_until(lambda: self.watchers(theirs))
                lock.release()
                self.held(writer)
                self.release(writer)
                self.assertEqual(self.left(path), [])

    def test_our_reader_keeps_a_plain_lock_out(self):
        """And so kazoo's readers too: to kazoo its names are those of a lock."""
        path = self.path()
        reader = self.zksh("rwlock", path, "read", "--compat", "all")
        self.held(reader)
        together = self.zksh("rwlock", path, "read", "--compat", "all")
        self.held(together)
        ours = self.nodes(path)
        lock, holds = self.asked(self.kazoo.Lock(path))
        self.wait_until(lambda: self.kazoo_waits(ours))
        self.release(reader)
        self.assertFalse(holds.is_set())
        self.release(together)
        self.assertTrue(holds.wait(DEADLINE))
        lock.release()
        self.assertEqual(self.left(path), [])

    def test_readers_share(self):
        for compat, extra in FLEETS:
            if compat == "all":
                continue
            with self.subTest(compat=compat):
                path = self.path()
                lock, holds = self.reader(path, extra)
                self.assertTrue(holds.wait(DEADLINE))
                ours = self.zksh("rwlock", path, "read", "--compat", compat)
                self.held(ours)
                later, holds = self.reader(path, extra)
                self.assertTrue(holds.wait(DEADLINE))
                for one in (lock, later):
                    one.release()
                self.release(ours)
                self.assertEqual(self.left(path), [])

    def test_the_names_of_all_libraries_are_taken_where_kazoo_is(self):
        path = self.path()
        first, holds = self.asked(self.kazoo.Lock(path))
        self.assertTrue(holds.wait(DEADLINE))
        theirs = self.nodes(path)
        zksh = self.zksh("lock", path)
        self.wait_until(lambda: self.watchers(theirs))
        ours = self.nodes(path) - theirs
        last, holds = self.asked(self.kazoo.Lock(path))
        self.wait_until(lambda: self.kazoo_waits(ours))
        first.release()
        self.held(zksh)
        self.assertFalse(holds.is_set())
        self.release(zksh)
        self.assertTrue(holds.wait(DEADLINE))
        last.release()
        self.assertEqual(self.left(path), [])


if __name__ == "__main__":
    unittest.main()
