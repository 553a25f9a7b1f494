"""Reads in a transaction show one moment: what others write together is read together."""
import threading
import unittest

from session_case import SessionTest
from server import needs


class JointReads(SessionTest):
    @needs(3, 6)
    def test_what_is_written_together(self):
        self.assertEqual(self.run_zksh("-c", "create /a 0; create /b 0")[0], 0)
        writer = self.start("--pipe")
        read = threading.Event()

        def write():
            number = 0
            while not read.is_set():
                number += 1
                self.send(writer, b"multi 'set /a %d' 'set /b %d'\n" % (number, number))

        threading.Thread(target=writer.stdout.read, daemon=True).start()
        threading.Thread(target=writer.stderr.read, daemon=True).start()
        writing = threading.Thread(target=write)
        writing.start()
        try:
            self.wait_until(lambda: self.znodes.version(self.root + "/a") > 20)
            lines = "multi 'get /a' 'get /b'; get /a; get /b; " * 200
            seen, apart = set(), 0

            def are_enough():
                """While all is read, a busy machine may not write."""
                nonlocal apart
                status, out, err = self.run_zksh("-c", lines)
                values = out.split()
                self.assertEqual((status, err, len(values)), (0, "", 4 * 200))
                for at in range(0, len(values), 4):
                    first, second, *alone = values[at:at + 4]
                    self.assertEqual(first, second)
                    seen.add(first)
                    apart += alone[0] != alone[1]
                return len(seen) > 20 and apart > 0  # else the test could not fail
            self.wait_until(are_enough, 300)
        finally:
            read.set()
            writing.join()


if __name__ == "__main__":
    unittest.main()
