"""An answer that takes longer than the session timeout to arrive, over a narrow line: its bytes show that the server lives."""
import time
import unittest

from session_case import SessionTest
from distance import Distance

BYTES_A_SECOND = 25_000


class LongAnswers(SessionTest):
    def zksh_near(self, *words):
        self.assertEqual(self.run_zksh(*words)[0], 0)

    def assert_arrives(self, size, *words, one_way):
        """The answer, in less time than the line needs for two of them."""
        with Distance(self.server.port, one_way, BYTES_A_SECOND) as narrow:
            begin = time.monotonic()
            status, out, err = self.run_zksh("-t", "6000", *words, server=narrow.address + self.root)
            took = time.monotonic() - begin
        self.assertEqual((status, err), (0, ""))
        self.assertGreater(size / BYTES_A_SECOND, 8)  # longer than the session timeout
        self.assertLess(took, 1.8 * size / BYTES_A_SECOND)
        return out

    def test_children(self):
        self.zksh_near("fill", "-n", "20000", "/list")
        for one_way in (0, 0.05):
            with self.subTest(one_way):
                out = self.assert_arrives(20000 * 12, "-o", "plain", "ls", "/list", one_way=one_way)
                self.assertEqual(len(out.splitlines()), 20000)

    def test_value(self):
        value = "v" * 250_000
        self.zksh_near("create", "/value", "@" + self.file("value", value))
        self.assertEqual(self.assert_arrives(len(value), "-o", "plain", "get", "/value", one_way=0.05), value)

    def test_many_values(self):
        self.zksh_near("fill", "-n", "30", "-s", "8000", "/tree")
        out = self.assert_arrives(30 * 8000, "dump", "/tree", one_way=0.05)
        self.assertGreater(len(out), 30 * 8000)


if __name__ == "__main__":
    unittest.main()
