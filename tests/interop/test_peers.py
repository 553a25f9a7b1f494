#!/usr/bin/python3
"""Tests the other libraries among themselves, to validate the checks that the other tests use."""
import unittest

from interop_case import InteropTest, Turn, most_at_once, overlaps, theirs
from peers import PeerError, Round
from server import needs


@needs(3, 5)  # what Curator needs
class Peers(InteropTest):
    def test_each_library_excludes_itself(self):
        for part in (theirs("curator"), theirs("kazoo"), theirs("kazoo", "mutex+extra"), theirs("go"),
                     theirs("writelock"), theirs("curator", "write"), theirs("kazoo", "write")):
            with self.subTest(part=part):
                self.assert_excluded(part, rounds=60)

    def test_libraries_that_see_each_other(self):
        for parts in ((theirs("curator"), theirs("go")), (theirs("go"), theirs("writelock")),
                      (theirs("curator"), theirs("kazoo", "mutex+renamed")),
                      (theirs("curator", "write"), theirs("curator", "read"))):
            with self.subTest(parts=parts):
                self.assert_excluded(*parts, rounds=60)

    def test_overlaps_are_found_among_libraries_that_do_not(self):
        for parts in ((theirs("curator"), theirs("kazoo")), (theirs("curator"), theirs("curator", "write"))):
            with self.subTest(parts=parts):
                self.assert_some_contest(overlaps, *parts, rounds=100)

    def test_readers_share(self):
        for part in (theirs("curator", "read", 4), theirs("kazoo", "read", 4)):
            with self.subTest(part=part):
                def several_at_once(turns):
                    self.assertEqual(overlaps(turns), [])
                    return most_at_once(turns) > 1
                self.assert_some_contest(several_at_once, part, rounds=20, hold_us=5000)

    def test_a_library_that_fails_says_why(self):
        with self.assertRaisesRegex(PeerError, r"Atoi: parsing .*__lock__"):
            self.contest(theirs("go"), theirs("kazoo"))


class Overlaps(unittest.TestCase):
    WRITER, OTHER, READER = theirs("curator"), theirs("kazoo"), theirs("curator", "read")

    def found(self, *turns):
        return len(overlaps([Turn(part, Round(0, acquired, releasing, releasing + 1))
                             for part, acquired, releasing in turns]))

    def test_overlaps(self):
        self.assertEqual(0, self.found((self.WRITER, 1, 3), (self.OTHER, 3, 5), (self.WRITER, 6, 7)))
        self.assertEqual(1, self.found((self.WRITER, 1, 3), (self.OTHER, 2, 5)))
        self.assertEqual(1, self.found((self.WRITER, 1, 3), (self.WRITER, 2, 5)))
        self.assertEqual(1, self.found((self.WRITER, 2, 3), (self.OTHER, 1, 9)))
        self.assertEqual(0, self.found((self.READER, 1, 3), (self.READER, 2, 5)))
        self.assertEqual(1, self.found((self.READER, 1, 9), (self.READER, 2, 5), (self.WRITER, 6, 7)))
        self.assertEqual(1, self.found((self.WRITER, 1, 9), (self.READER, 8, 10)))


if __name__ == "__main__":
    unittest.main()
