"""Tests that state of one connection never leaks into the next one with the same descriptor."""
import re
import subprocess
import tempfile
import unittest

import modes
from broken_server import BrokenServer
from zksh import ZKSH

BAD = ("closes at once", "it closes", "closes behind the greeting", "half an answer, and it closes", "HTTP", "ones",
       "a frame of 0", "an answer that nobody asked for", "another's answer", "the number -3", "an event without a path",
       "a refusal of no credential", "closes after each answer", "a greeting of 2 GiB")


class Descriptors(unittest.TestCase):
    program = (ZKSH,)
    tls = None

    def test_connections_one_after_the_other(self):
        """Reads from the good server succeed between connections to each bad one, with few descriptors."""
        with BrokenServer(lambda c: (c.greet(), c.serve()), tls=self.tls) as good, tempfile.TemporaryFile() as text:
            servers = [BrokenServer(modes.BROKEN.get(name) or modes.ODD[name], tls=self.tls) for name in BAD]
            try:
                for turn in range(3):
                    for server in servers:
                        text.write(f"connect {server.address}\nget /bad{turn}\nls /bad | cat\necho begin\n".encode())
                        # On a busy machine one may not be greeted in 300 ms.
                        text.write(f"connect {good.address}\nget /a\n".encode() * 5 + b"echo end\n")
                text.seek(0)
                done = subprocess.run(["bash", "-c", 'ulimit -n 40; exec "$@"', "bash", *self.program, "-s", good.address,
                                       "--connect-timeout", "300ms", "-t", "1000", "--keep-going", "-f", "-"],
                                      stdin=text, capture_output=True, check=False, timeout=200)
            finally:
                for server in servers:
                    server.__exit__()
        reads = re.findall(rb"begin\n(.*?)end\n", done.stdout, re.DOTALL)
        self.assertEqual(len(reads), 3 * len(BAD), done)
        self.assertTrue(all(b"x\n" in some for some in reads), done)
        self.assertNotIn(b"ulimit", done.stderr)
        self.assertIn(done.returncode, (3, 9), done)


if __name__ == "__main__":
    unittest.main()
