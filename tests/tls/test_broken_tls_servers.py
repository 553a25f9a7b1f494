"""Broken servers are handled over TLS as without it."""
import os
import ssl
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "session"))
import test_broken_servers  # noqa: E402
from certificates import Authority  # noqa: E402
from tls_case import ZKSH_TLS, TlsCase, main  # noqa: E402


class BrokenTlsServers(test_broken_servers.BrokenServers, TlsCase):
    test_four_letter_words = None  # these never go over TLS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        authority = Authority(cls.directory, "authority")
        cls.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.tls.load_cert_chain(authority.issue("server"))
        cls.program = [ZKSH_TLS, "--tls-ca", authority.certificate]


if __name__ == "__main__":
    main()
