"""Tests twenty rounds of long_life.py."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import long_life  # noqa: E402


class LongLife(unittest.TestCase):
    def test_nothing_grows(self):
        self.assertIsNone(long_life.play(20, None))


if __name__ == "__main__":
    unittest.main()
