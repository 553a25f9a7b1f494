"""Shared by the tests of TLS and SASL: servers that require them."""
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from server import Server, free_port  # noqa: E402
from waiting import wait_until  # noqa: E402
from zksh import ZKSH  # noqa: E402

# What the manifest of Debian's server lacks of what Netty needs for TLS.
NETTY_JARS = [f"/usr/share/java/netty-{part}.jar" for part in ("codec", "resolver")]
NETTY = "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"


class TlsServer(Server):
    """A server with a port for TLS, too; its certificate is a PEM file with key and certificate."""

    def __init__(self, certificate, authority, client_auth="none"):
        self.secure_port = free_port()
        super().__init__({"secureClientPort": str(self.secure_port), "secureClientPortAddress": "127.0.0.1",
                          "ssl.keyStore.location": certificate, "ssl.keyStore.type": "PEM",
                          "ssl.trustStore.location": authority, "ssl.trustStore.type": "PEM",
                          "ssl.clientAuth": client_auth}, jvm_flags=[NETTY], jars=NETTY_JARS)

    def start(self, deadline=60.0):
        """It opens this port after the other."""
        super().start(deadline)
        wait_until(self._accepts, deadline)
        return self

    def _accepts(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.secure_port)) == 0

    @property
    def secure(self):
        return f"127.0.0.1:{self.secure_port}"


class TlsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="zksh-tls-"))

    @classmethod
    def file(cls, name, text, mode=0o600):
        path = os.path.join(cls.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def environment(self):
        return {"HOME": self.directory, "XDG_CONFIG_HOME": self.directory, "XDG_STATE_HOME": self.directory,
                "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}

    def zksh(self, *words):
        """The exit status, what was printed, what went to standard error, and the seconds it took."""
        begun = time.monotonic()
        done = subprocess.run([ZKSH, *words], env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode(), time.monotonic() - begun

    def works(self, *words):
        status, out, err, _ = self.zksh(*words)
        self.assertEqual((0, ""), (status, err))
        return out

    def fails(self, expected_status, expected, *words):
        """Fails with a text in the message, well before the time that is given to wait for a server."""
        status, out, err, seconds = self.zksh("--connect-timeout", "60s", *words)
        self.assertIn(expected, err)
        self.assertEqual((expected_status, ""), (status, out), err)
        self.assertLess(seconds, 30, err)
        return err


def main():
    unittest.main()
