"""Tests the modes of a protocol-breaking server, and random changes of good answers; hostile.py plays them for as long as desired."""
import subprocess
import tempfile
import unittest

import hostile
import modes
from broken_server import BrokenServer
from znodes import pack_string

SLOW = {("the longest session timeout", "dump")}  # a minute


def noting(operations, behave):
    """That server, which notes what the last request of each connection asks for."""
    def behaves(c):
        try:
            return behave(c)
        finally:
            operations.append(getattr(c, "operation", None))
    return behaves


class Hostile(unittest.TestCase):
    maxDiff = None

    def test_there_are_a_hundred_modes(self):
        self.assertGreater(len(modes.BROKEN) + len(modes.ODD), 100)

    def test_modes(self):
        uses = list(hostile.USES)
        names = [*modes.BROKEN, *modes.ODD]
        pairs = [(name, uses[place % len(uses)]) for place, name in enumerate(names)]
        pairs.append(("the code -102", "watch"))  # no event can come of a node that may not be read
        pairs.append(("lengths of 2 GiB within", "watch"))  # it must not begin anew for ever
        pairs.append(("only pings are answered", "contend"))
        self.assertEqual(hostile.play(pair for pair in pairs if pair not in SLOW), [])

    def test_no_malformed_transaction_succeeds(self):
        for name, behave in modes.TRANSACTIONS.items():
            with self.subTest(name):
                status, _, err, _, _ = hostile.run(behave, hostile.USES["script"])
                self.assertEqual((10, 1), (status, err.count(b"Created")), err)
                self.assertIn(b"either all 2 operations were applied or none", err)

    def test_no_malformed_reads_succeed(self):
        def fault(play):
            name, use = play
            for _ in range(25):  # on a busy machine the version may come after a walk of so few nodes
                asked = []
                status, _, err, _, _ = hostile.run(noting(asked, modes.BROKEN_READS[name]),
                                                   (hostile.USES | hostile.MORE_USES)[use])
                if modes.MULTI_READ in asked:
                    truthful = status == 3 and b"an answer that does not match its reads" in err
                    return None if truthful else f"{name} × {use}: status {status}, {err!r}"
            return f"{name} × {use}: many nodes were never read at once"

        plays = [(name, use) for name in modes.BROKEN_READS for use in ("ls -R", "du")]
        self.assertEqual(hostile.faults(fault, plays, 32), [])

    def test_a_terminal_gets_the_log_escaped(self):
        behave = modes.early(modes.event(3, pack_string("/a\x1b]0;here\x07")))
        with BrokenServer(behave) as server, tempfile.TemporaryFile() as out:
            with hostile.terminal(b"", out) as (given, _):
                subprocess.run([hostile.ZKSH, "-s", server.address, "--log-level", "4", "--connect-timeout", "1s", "get", "/a"],
                               stdin=subprocess.DEVNULL, stdout=given, stderr=given, timeout=30, check=False)
            out.seek(0)
            shown = out.read()
        self.assertIn(b"]0;here", shown)
        self.assertNotIn(b"\x1b]0;", shown)

    def test_random_changes(self):
        # Always the same ones, so that a failure can be compared with the run before; hostile.py draws new ones.
        found = hostile.play_all_mutated(range(1, 48))
        self.assertEqual(found, [], "tests/hostile/hostile.py --changes 1 --seed N plays one again")


if __name__ == "__main__":
    unittest.main()
