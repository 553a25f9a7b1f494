#!/usr/bin/python3
"""zksh and other libraries loop on a lock: at least a thousand turns for each compatible pair, without overlap."""
import unittest

from interop_case import InteropTest, most_at_once, overlaps, shares, theirs, zksh
from server import needs


@needs(3, 5)  # what Curator needs
class Locks(InteropTest):
    def contend(self, ours, others):
        for other in others:
            parts = (ours, other)
            with self.subTest(ours=ours, other=other):
                self.assertGreaterEqual(len(self.assert_excluded(*parts)), 1000)

    def contend_reading_and_writing(self, compat, *others):
        """Our writers and our readers against theirs; each of ours and each of theirs is a pairing."""
        # More readers than writers, so that not each of them queues up between two writers.
        parts = (zksh("write", compat), zksh("read", compat, 5), *others)
        with self.subTest(compat=compat, others=others):
            turns = self.assert_excluded(*parts)
            self.assertGreater(most_at_once([turn for turn in turns if shares(turn.part)]), 1)

    def test_lock(self):
        self.contend(zksh(), (theirs("curator"), theirs("go"), theirs("writelock"),
                              theirs("kazoo", "mutex+extra"), theirs("kazoo", "mutex+renamed")))

    def test_lock_compat_kazoo(self):
        self.contend(zksh(compat="kazoo"),
                     (theirs("kazoo"), theirs("kazoo", "mutex+extra"), theirs("kazoo", "mutex+renamed")))

    def test_lock_compat_all(self):
        self.contend(zksh(compat="all"),
                     (theirs("curator"), theirs("curator", "write"), theirs("curator", "read"),
                      theirs("kazoo"), theirs("kazoo", "mutex+extra"), theirs("kazoo", "write"),
                      theirs("kazoo", "write+extra"), theirs("writelock")))

    def test_read_write_lock(self):
        self.contend_reading_and_writing("curator", theirs("curator", "write"), theirs("curator", "read"))
        self.contend_reading_and_writing("curator", theirs("kazoo", "write+extra"))

    def test_read_write_lock_compat_kazoo(self):
        self.contend_reading_and_writing("kazoo", theirs("kazoo", "write"))

    def test_read_write_lock_compat_all(self):
        self.contend_reading_and_writing("all", theirs("curator", "write"), theirs("curator", "read"))
        for other in (theirs("curator"), theirs("kazoo", "write"), theirs("kazoo", "write+extra"),
                      theirs("writelock")):
            self.contend_reading_and_writing("all", other)

    def test_the_warnings_are_true(self):
        """What test_warnings.py wants zksh to warn of does let two in."""
        for ours, other in ((zksh(), theirs("kazoo")), (zksh(compat="kazoo"), theirs("curator")),
                            (zksh("write"), theirs("curator")), (zksh(), theirs("curator", "write"))):
            with self.subTest(ours=ours, other=other):
                self.assert_some_contest(overlaps, ours, other, rounds=200)


if __name__ == "__main__":
    unittest.main()
