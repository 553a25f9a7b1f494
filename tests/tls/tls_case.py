"""Shared by the tests of TLS and SASL: servers that require them."""
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from certificates import Authority  # noqa: E402
from server import Server, free_port  # noqa: E402
from waiting import readable, wait_until  # noqa: E402
from zksh import ZKSH  # noqa: E402

# What the manifest of Debian's server lacks of what Netty needs for TLS.
NETTY_JARS = [f"/usr/share/java/netty-{part}.jar" for part in ("codec", "resolver")]
NETTY = "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"


class TlsServer(Server):
    """A server with a port for TLS, too; its certificate is a PEM file with key and certificate."""

    def __init__(self, certificate, authority, client_auth="none", config=None, jvm_flags=(), jars=()):
        self.secure_port = free_port()
        super().__init__({"secureClientPort": str(self.secure_port), "secureClientPortAddress": "127.0.0.1",
                          "ssl.keyStore.location": certificate, "ssl.keyStore.type": "PEM",
                          "ssl.trustStore.location": authority, "ssl.trustStore.type": "PEM",
                          "ssl.clientAuth": client_auth, **(config or {})},
                         jvm_flags=[NETTY, *jvm_flags], jars=[*NETTY_JARS, *jars])

    def start(self, deadline=180.0):
        """It opens this port after the other. Its first handshake may take longer than zksh waits for one."""
        super().start(deadline)
        wait_until(self._accepts, deadline)
        return self

    def _accepts(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with socket.create_connection(("127.0.0.1", self.secure_port), 30) as client:
                context.wrap_socket(client).close()
        except (ssl.SSLError, ConnectionResetError):
            pass  # it wants something else, and has said so
        except OSError:
            return False
        return True

    @property
    def secure(self):
        return f"127.0.0.1:{self.secure_port}"


class TlsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="zksh-tls-"))
        cls.authority = Authority(cls.directory, "authority")
        cls.ca = cls.authority.certificate

    @classmethod
    def file(cls, name, text, mode=0o600):
        path = os.path.join(cls.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    @classmethod
    def server(cls, *words, **named):
        """A TlsServer, until all tests of the class are over."""
        server = TlsServer(*words, **named).start()
        cls.addClassCleanup(server.remove)
        return server

    def environment(self):
        return {"HOME": self.directory, "XDG_CONFIG_HOME": self.directory, "XDG_STATE_HOME": self.directory,
                "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"],
                **{name: os.environ[name] for name in ("OPENSSL_MODULES",) if name in os.environ}}

    def zksh(self, *words):
        """The exit status, what was printed, what went to standard error, and the seconds it took."""
        begun = time.monotonic()
        done = subprocess.run([ZKSH, *words], env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode(), time.monotonic() - begun

    def works(self, *words):
        status, out, err, _ = self.zksh("--connect-timeout", "60s", *words)
        self.assertEqual((0, ""), (status, err))
        return out

    def fails(self, expected_status, expected, *words):
        """Fails with a text in the message, well before the time that is given to wait for a server."""
        status, out, err, seconds = self.zksh("--connect-timeout", "60s", *words)
        self.assertIn(expected, err)
        self.assertEqual((expected_status, ""), (status, out), err)
        self.assertLess(seconds, 50, err)
        return err

    def shell(self, *words):
        """A zksh that takes lines as long as the test runs."""
        return self.enterContext(Shell([ZKSH, *words, "-o", "plain", "--keep-going"], self.environment()))


class Shell:
    """A zksh that reads lines from a pipe."""

    def __init__(self, words, environment):
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.said = ""
        self.status = 0  # what it is to end with

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def answer(self, line, expected, limit=60):
        """Gives a line, again if its request is lost with a connection, until it is answered so."""
        until = time.monotonic() + limit
        self.give(line)
        while time.monotonic() < until and readable(self.process.stdout, until - time.monotonic()):
            if re.search(rf"^{re.escape(expected)}$", self.read(), re.MULTILINE):
                return
            if re.search(r"stdin:\d+: failed \(status 3\)\n", self.said):
                self.status = 3
                self.give(line)
            elif re.search(r"stdin:\d+: failed \(", self.said):
                break
        raise AssertionError(f"{line[:100]}: {self.said[-1000:]}")

    def read(self):
        """What it has said since the last line."""
        while readable(self.process.stdout, 0) and (said := os.read(self.process.stdout.fileno(), 1 << 20)):
            self.said += said.decode()
        return self.said

    def give(self, line):
        self.said = ""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()


def main():
    unittest.main()
