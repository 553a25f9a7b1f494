"""The portable file: TLS and DIGEST-MD5 are in it, Kerberos is not, and it needs no library."""
import os
import subprocess
import unittest
import unittest.mock

import tls_case
from tls_case import TlsCase, main

PASSWORD = "hunter2-Jb3"


@unittest.skipUnless("ZKSH_PORTABLE" in os.environ, "its archives are not here")
class Portable(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        jaas = cls.file("jaas.conf", f'Server {{\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n'
                        f'  user_ann="{PASSWORD}";\n}};\n')
        cls.right = cls.server(cls.authority.issue("server"), cls.ca, jvm_flags=[
            "-Dzookeeper.fips-mode=false", f"-Djava.security.auth.login.config={jaas}",
            "-Dzookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"])
        cls.password = cls.file("password", PASSWORD + "\n")

    def setUp(self):
        self.enterContext(unittest.mock.patch.object(tls_case, "ZKSH", os.environ["ZKSH_PORTABLE"]))

    def test_it_needs_no_library(self):
        headers = subprocess.run(["readelf", "-lW", os.environ["ZKSH_PORTABLE"]], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(headers, "INTERP|DYNAMIC")

    def test_tls_and_digest_md5(self):
        name = f"localhost:{self.right.secure_port}"
        options = ["-s", name, "--tls-ca", self.ca, "-o", "plain", "--sasl-user", "ann", "--sasl-password-file"]
        self.assertEqual("sasl:ann\nip:127.0.0.1\n", self.works(*options, self.password, "whoami"))
        self.assertIn("Mode: standalone\n", self.works("-s", name, "--tls-ca", self.ca, "4lw", "-t", "30s", "srvr"))
        wrong = self.file("wrong", PASSWORD + "x\n")
        self.fails(7, "refused the user ann or the password", *options, wrong, "ls", "/")
        stranger = tls_case.Authority(self.directory, "stranger").certificate
        self.fails(3, "certificate is refused", "-s", name, "--tls-ca", stranger, "ls", "/")

    def test_kerberos(self):
        self.fails(2, "this zksh is the portable file, which knows no SASL mechanism but DIGEST-MD5", "-s", self.right.address,
                   "--sasl-mechanism", "GSSAPI", "ls", "/")

    def test_a_name_that_does_not_exist(self):
        # It could come up yet, so it is tried as long as zksh waits for a server.
        status, out, err, _ = self.zksh("--connect-timeout", "1s", "-s", "no-such-host.invalid", "ls", "/")
        self.assertIn("the name cannot be resolved", err)
        self.assertEqual((3, ""), (status, out))


if __name__ == "__main__":
    main()
