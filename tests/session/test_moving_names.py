"""Servers whose names get another address, as in a container's network: sessions follow them."""
import os
import socket
import unittest

from session_case import SessionTest
from proxy import Proxy

NAME = "moving.example"


@unittest.skipUnless("MOVING_NAMES_LIBRARY" in os.environ, "a sanitizer's program loads no other getaddrinfo")
class MovingNames(SessionTest):
    def setUp(self):
        super().setUp()
        self.names = os.path.join(self.directory, "names")
        self.name("127.0.0.1")
        self.old = self.enterContext(Proxy(self.server.port))
        self.port = int(self.old.address.partition(":")[2])
        self.new = self.enterContext(Proxy(self.server.port, at=("127.0.0.2", self.port)))

    def name(self, *addresses):
        with open(self.names + ".new", "w", encoding="ascii") as file:
            file.writelines(f"{NAME} {address}\n" for address in addresses)
        os.replace(self.names + ".new", self.names)

    def start_named(self, *arguments, others=""):
        preloaded = {"LD_PRELOAD": os.environ["MOVING_NAMES_LIBRARY"], "MOVING_NAMES": self.names}
        return self.start(*arguments, server=f"{NAME}:{self.port}{others}{self.root}", more_environment=preloaded, bufsize=0)

    def assert_moves(self, others=""):
        """The session itself does: its ephemeral node stays."""
        process = self.start_named("-t", "40000", others=others)
        self.send(process, b"create -e /mine x\n")
        self.wait_node("/mine")
        self.name("127.0.0.2")
        self.old.close()
        self.wait_until(lambda: self.new.first_bytes)
        self.assertEqual(b"x", self.znodes.get(self.root + "/mine"))
        self.send(process, b"set /mine y\n")
        self.wait_until(lambda: self.znodes.get(self.root + "/mine") == b"y")
        _, err = process.communicate(b"quit\n", timeout=60)
        self.assertNotIn(b"expired", err)
        self.assertEqual(0, process.returncode, err)

    def test_a_session_moves(self):
        self.assert_moves()

    def test_a_session_moves_though_another_server_is_down(self):
        """That has the address from which the name moves: the C client compares addresses without ports."""
        self.assert_moves(others=",127.0.0.1:1")

    def test_a_session_begins_after_the_move(self):
        self.old.close()
        process = self.start_named("--connect-timeout", "40s")
        self.send(process, b"create /found x\n")
        self.assertIsNone(process.poll())
        self.name("127.0.0.2")
        self.wait_node("/found")

    def test_a_name_of_which_one_address_refuses(self):
        """The other one's server is slow: it accepts connections, and does not answer."""
        self.old.close()
        self.new.close()
        with socket.create_server(("127.0.0.2", self.port)):
            self.name("127.0.0.1", "127.0.0.2")
            process = self.start_named("--connect-timeout", "2s", "-c", "ls /")
            _, err = process.communicate(timeout=60)
        self.assertEqual(3, process.returncode)
        self.assertEqual(f"no connection to {NAME}:{self.port}: reachable, but not serving (frozen, starting, "
                         "without a quorum, a port for TLS, or not a ZooKeeper server)\n", err.decode())


if __name__ == "__main__":
    unittest.main()
