"""At the prompt with a broken server: the line stays, Ctrl-C ends what hangs, and the terminal is restored."""
import itertools
import socket
import struct
import tempfile
import unittest

from shell_case import ZKSH, ShellTest

from broken_server import BrokenServer


SESSION = 600_000  # ms: nothing ends because a busy machine took long


class BrokenServerTest(ShellTest):
    @classmethod
    def setUpClass(cls):
        """Each test has a server of its own kind, and no other."""

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-broken-"))

    def prompted(self, behave, state="CONNECTED", limit="60s"):
        """zksh below a shell that shows the terminal's modes behind it, at its first prompt."""
        self.connect = self.enterContext(BrokenServer(behave)).address
        screen = self.screen_of(["sh", "-c", f"trap : INT; {ZKSH} -s {self.connect} -t {SESSION} --connect-timeout {limit}; echo status $?; stty -a; "
                                             "read line; echo got $line"], width=110)
        self.wait_prompt(screen, 0, state)
        return screen

    def check_given_back(self, screen):
        screen.keys("C-d")
        screen.wait_for("status ")
        screen.wait_for(lambda s: {"isig", "icanon", "echo"} <= set(s.text().split()))
        screen.type("a line\n")
        screen.wait_for("got a line")

    def test_ctrl_c_ends_what_is_not_answered(self):
        screen = self.prompted(lambda c: (c.greet(timeout=SESSION), c.stay()))
        for number, line in enumerate(("get /a", "ls /", "create /a x")):
            screen.type(line + "\n")
            screen.wait_for(f"{number}] {line}")
            screen.keys("C-c")
            self.wait_prompt(screen, number + 1)
        self.check_given_back(screen)

    def test_what_is_typed_stays_while_the_connection_comes_and_goes(self):
        greeted = []

        def behave(c):
            c.greet(timeout=SESSION)
            greeted.append(c)
            c.request()
            c.send(struct.pack(">i", 2**31 - 1))
            c.stay()
        screen = self.prompted(behave)
        screen.type("get /half")
        screen.wait_for("get /half")
        greeted[0].link.shutdown(socket.SHUT_RDWR)
        screen.wait_for(lambda s: len(greeted) >= 2 and s.lines()[-1] == self.prompt(0) + " get /half")
        screen.keys("C-u")
        self.wait_prompt(screen, 0)
        screen.type("get /a\n")
        self.wait_prompt(screen, 1)
        screen.wait_for("an answer with an invalid length")
        self.check_given_back(screen)

    def test_another_protocol(self):
        screen = self.prompted(lambda c: (c.hello(), c.send(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9), c.stay()), "CONNECTING", "1s")
        number = itertools.count()

        def is_told(_):
            """A server that is late is not known to speak something else."""
            self.run_line(screen, "get /a", next(number), "CONNECTING")
            return "it does not speak the ZooKeeper protocol" in " ".join(screen.lines(joined=True))
        screen.wait_for(is_told)
        self.check_given_back(screen)


if __name__ == "__main__":
    unittest.main()
