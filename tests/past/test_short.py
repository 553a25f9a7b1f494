"""The proofs of run.py, in short: a few snapshots and a few killed servers."""
import os
import shutil
import tempfile
import unittest

from proof import needs, prove_kills, prove_snapshots


@needs(3, 6)  # whose classes ServerTree.java uses
@unittest.skipUnless(shutil.which("javac"), "javac is missing")
class Short(unittest.TestCase):
    def setUp(self):
        self.scratch = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-past-"))
        self.said = []

    def test_snapshots_under_load(self):
        self.assertEqual(prove_snapshots(self.scratch, 8, 6, 1, self.said.append), [], self.said)

    def test_a_killed_writer(self):
        self.assertEqual(prove_kills(self.scratch, 3, 1, self.said.append, os.environ.get("ZKSH_KEEP")), [], self.said)


if __name__ == "__main__":
    unittest.main()
