"""A run of a minute, in which every kind of fault happens once."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import die_with_parent  # noqa: E402

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")


class Short(unittest.TestCase):
    def test_every_fault_once(self):
        done = subprocess.run([sys.executable, "-B", RUN], capture_output=True, text=True, check=False,
                              preexec_fn=die_with_parent)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
