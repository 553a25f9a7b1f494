"""PKCS#12 keystores with passwords, as openssl and keytool make them, for the client's certificate and its authorities."""
import os
import subprocess
import unittest.mock

from certificates import Authority, openssl
from tls_case import TlsCase, main

KEY_PASSWORD = "hunter2-Kw7"
TRUST_PASSWORD = "letmein-Tr4"


class Keystores(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = TlsCase.server.__func__(cls, cls.authority.issue("server"), cls.ca, "need")
        cls.right = cls.file("right", KEY_PASSWORD + "\n")
        cls.wrong = cls.file("wrong", KEY_PASSWORD + "x\n")
        cls.trust_right = cls.file("trust-right", TRUST_PASSWORD + "\n")
        client = os.path.splitext(cls.authority.issue("client"))[0]
        cls.pem = f"{client}.pem"
        cls.store = os.path.join(cls.directory, "client.p12")
        openssl("pkcs12", "-export", "-in", f"{client}.crt", "-inkey", f"{client}.key", "-certfile", cls.ca,
                "-passout", f"pass:{KEY_PASSWORD}", "-out", cls.store)
        cls.trust = os.path.join(cls.directory, "trust.p12")
        for name in (cls.ca, Authority(cls.directory, "another").certificate):
            cls.keytool("-importcert", "-noprompt", "-alias", os.path.basename(name), "-file", name,
                        "-keystore", cls.trust, "-storetype", "PKCS12", "-storepass", TRUST_PASSWORD)

    @staticmethod
    def keytool(*words):
        subprocess.run(["keytool", *words], check=True, capture_output=True)

    def refused(self, expected, *words):
        err = self.fails(2, expected, "-s", self.server.secure, *words, "ls", "/")
        for secret in (KEY_PASSWORD, TRUST_PASSWORD):
            self.assertNotIn(secret, err)
        return err

    def connects(self, *words):
        self.assertEqual("[zookeeper]\n", self.works("-s", self.server.secure, *words, "ls", "/"))

    def test_a_key_and_its_certificate_in_one_store(self):
        options = ["--tls-ca", self.ca, "--tls-cert", self.store]
        self.connects(*options, "--tls-key-password-file", self.right)
        self.assertIn("CN=client", self.works("-s", self.server.secure, *options, "--tls-key-password-file", self.right, "-o", "plain",
                                              "-c", "create /mine x auth::cdrwa; getAcl /mine; delete /mine"))
        self.refused("it has a password; --tls-key-password-file names a file whose first line it is", *options)
        self.refused("its password is another one than that of --tls-key-password-file, or it is damaged",
                     *options, "--tls-key-password-file", self.wrong)

    def test_a_store_that_java_has_made(self):
        """keytool encrypts as its release does by default."""
        store = os.path.join(self.directory, "java.p12")
        self.keytool("-importkeystore", "-srckeystore", self.store, "-srcstoretype", "PKCS12", "-srcstorepass", KEY_PASSWORD,
                     "-destkeystore", store, "-deststoretype", "PKCS12", "-deststorepass", TRUST_PASSWORD)
        self.connects("--tls-ca", self.ca, "--tls-cert", store, "--tls-key-password-file", self.trust_right)

    def test_a_store_with_an_old_cipher(self):
        """RC2-40, as older releases of keytool and openssl write it: OpenSSL's legacy provider has it."""
        store = os.path.join(self.directory, "old.p12")
        openssl("pkcs12", "-export", "-legacy", "-certpbe", "PBE-SHA1-RC2-40", "-keypbe", "PBE-SHA1-3DES", "-in", self.pem,
                "-passout", f"pass:{KEY_PASSWORD}", "-out", store)
        options = ["--tls-ca", self.ca, "--tls-cert", store, "--tls-key-password-file", self.right]
        self.connects(*options)
        self.refused("its password is another one", *options[:-1], self.wrong)
        with unittest.mock.patch.dict(os.environ, {"OPENSSL_MODULES": self.directory}):
            err = self.refused("it is encrypted with an old cipher (RC2-40,", *options)
        for command in ("keytool -importkeystore -srckeystore", "openssl pkcs12 -legacy -in"):
            self.assertIn(f"  {command} {store} ", err)

    def test_authorities_in_a_store(self):
        options = ["--tls-cert", self.pem, "--tls-ca", self.trust]
        self.connects(*options, "--tls-ca-password-file", self.trust_right)
        self.refused("it has a password; --tls-ca-password-file names a file whose first line it is", *options)
        self.refused("its password is another one than that of --tls-ca-password-file, or it is damaged",
                     *options, "--tls-ca-password-file", self.wrong)

    def test_a_store_without_a_password(self):
        store = os.path.join(self.directory, "open.p12")
        openssl("pkcs12", "-export", "-in", self.pem, "-passout", "pass:", "-out", store)
        self.connects("--tls-ca", self.ca, "--tls-cert", store)

    def test_a_store_without_what_is_wanted(self):
        self.refused("it has no key with a certificate", "--tls-ca", self.ca, "--tls-cert", self.trust,
                     "--tls-key-password-file", self.trust_right)
        with open(self.store, "rb") as whole:
            damaged = self.file("damaged.p12", "")
            with open(damaged, "wb") as half:
                half.write(whole.read()[:500])
        self.refused("neither PEM nor PKCS#12", "--tls-ca", self.ca, "--tls-cert", damaged, "--tls-key-password-file", self.right)

    def test_the_file_of_the_java_client(self):
        def properties(**changed):
            lines = {"ssl.keyStore.location": self.store, "ssl.keyStore.password": KEY_PASSWORD,
                     "ssl.trustStore.location": self.trust, "ssl.trustStore.password": TRUST_PASSWORD, **changed}
            text = "zookeeper.client.secure=true\n" + "".join(f"zookeeper.{key}={value}\n" for key, value in lines.items() if value)
            return self.file("client.properties", text)

        def refused(expected, **changed):
            return self.refused(expected, "-client-configuration", properties(**changed))

        self.connects("-client-configuration", properties())
        self.connects("-client-configuration", properties(**{"ssl.keyStore.password": "", "ssl.trustStore.password": "",
                                                             "ssl.keyStore.passwordPath": self.right,
                                                             "ssl.trustStore.passwordPath": self.trust_right}))
        for name in ("keyStore", "trustStore"):
            for value, expected in (("", "it has a password"), ("wrong-Pw9", "its password is another one")):
                with self.subTest(name=name, value=value):
                    err = refused(expected, **{f"ssl.{name}.password": value})
                    self.assertIn(f"zookeeper.ssl.{name}.password", err)
                    self.assertNotIn("wrong-Pw9", err)


if __name__ == "__main__":
    main()
