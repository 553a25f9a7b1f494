"""Broken servers are handled over TLS as without it."""
import pathlib
import ssl
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "session"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hostile"))
import test_broken_servers  # noqa: E402
import test_descriptors  # noqa: E402
from broken_server import BrokenServer  # noqa: E402
from tls_case import ZKSH, TlsCase, main  # noqa: E402


class OverTls(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.tls.load_cert_chain(cls.authority.issue("server"))
        cls.program = [ZKSH, "--tls-ca", cls.ca]


class BrokenTlsServers(test_broken_servers.BrokenServers, OverTls):
    pass


class TlsDescriptors(test_descriptors.Descriptors, OverTls):
    def test_more_descriptors_than_select_takes(self):
        """The C client would select on a socket during a handshake of its own."""
        # A descriptor that zksh was started with stays, and its own come after it.
        script = 'ulimit -n 4096; exec "$@" ' + " ".join(f"{number}</dev/null" for number in range(3, 1100))
        with BrokenServer(lambda c: (c.greet(timeout=30000), c.serve()), self.tls) as server:
            done = subprocess.run(["bash", "-c", script, "bash", *self.program, "-s", server.address, "-c", "get /a"],
                                  capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((0, "x\n", ""), (done.returncode, done.stdout, done.stderr))


if __name__ == "__main__":
    main()
