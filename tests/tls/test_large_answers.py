"""Tests that a large answer over TLS takes at most twice its size in memory; alone, as a child's maximum includes its parent's."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hostile"))
import test_memory  # noqa: E402
from test_broken_tls_servers import OverTls  # noqa: E402
from tls_case import main  # noqa: E402


class LargeAnswers(OverTls):
    def test_a_value(self):
        bodies, words, least = test_memory.CASES["get"]
        status, size, err, kib = test_memory.measure(bodies, words, program=self.program, tls=self.tls)
        self.assertEqual((status, size), (0, least), err)
        self.assertLessEqual(kib << 10, 2 * test_memory.SIZE + test_memory.REST)


if __name__ == "__main__":
    main()
