"""Tests twenty rounds of long_life.py."""
import unittest

import long_life


class LongLife(unittest.TestCase):
    def test_nothing_grows(self):
        self.assertIsNone(long_life.play(20, None))


if __name__ == "__main__":
    unittest.main()
