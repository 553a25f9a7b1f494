"""Tests random lines of the commands that wait; lines.py runs as many as desired."""
import unittest

import lines


class Lines(unittest.TestCase):
    maxDiff = None

    def test_lines(self):
        # Always the same ones, so that a failure can be compared with the run before.
        waited, found = lines.play_all(range(1, 121))
        self.assertGreater(waited, 10)
        self.assertEqual(found, [], "tests/hostile/lines.py --lines 1 --seed N runs one again")


if __name__ == "__main__":
    unittest.main()
