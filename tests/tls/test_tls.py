"""TLS against real servers: right and wrong certificates on either side, with all ways to configure it."""
import hashlib
import os
import signal
import socket
import ssl
import subprocess
import threading
import time

from certificates import Authority
from packing_proxy import PackingProxy
from tls_case import ZKSH, TlsCase, main
from broken_server import BrokenServer
from waiting import wait_until

PASSWORD = "hunter2-Kw7"


class Tls(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other_ca = Authority(cls.directory, "stranger").certificate
        cls.client = cls.authority.issue("client")
        cls.right = cls.server(cls.authority.issue("right"))

    @classmethod
    def server(cls, certificate, client_auth="none"):
        return super().server(certificate, cls.ca, client_auth, config={"maxSessionTimeout": "600000"})

    def test_a_right_certificate(self):
        self.assertEqual("[zookeeper]\n", self.works("-s", self.right.secure, "--tls-ca", self.ca, "ls", "/"))
        name = f"localhost:{self.right.secure_port}"
        self.assertEqual("[zookeeper]\n", self.works("-s", name, "--tls-ca", self.ca, "ls", "/"))

    def completed(self, *words):
        status, out, err, _ = self.zksh("--complete", *words, "get", "/zoo")
        self.assertEqual((0, ""), (status, err))
        return out

    def test_nodes_are_completed(self):
        """zksh gives up after 0.3 s without a connection, which a busy machine may take."""
        options = ["-s", self.right.secure, "--tls-ca", self.ca]
        wait_until(lambda: self.completed(*options) == "/zookeeper/\n")
        profile = f"[prod]\nserver = {self.right.secure}\ntls-ca = {self.ca}\n"
        config = self.file("zksh/config", profile)
        self.addCleanup(os.remove, config)
        wait_until(lambda: self.completed("-p", "prod") == "/zookeeper/\n")
        # Whom to trust is not forgotten for that.
        self.assertEqual("", self.completed(*options[:3], self.other_ca))

    def test_much_at_once_in_both_directions(self):
        with open(os.path.join(self.directory, "big"), "wb") as file:
            file.write(os.urandom(900_000))
        options = ["-s", self.right.secure, "--tls-ca", self.ca, "-o", "plain"]
        self.works(*options, "create", "/big", "@" + file.name)
        self.works(*options, "fill", "/many", "-n", "3000", "-s", "300")
        self.assertEqual("3000\n", self.works(*options, "-c", "getAllChildrenNumber /many"))
        read = subprocess.run([ZKSH, *options, "get", "/big"], capture_output=True,
                              env=self.environment(), timeout=60, check=True).stdout
        with open(file.name, "rb") as file:
            self.assertEqual(file.read(), read)
        self.assertEqual(3001, len(self.works(*options, "find", "/many").splitlines()))
        self.works(*options, "-c", "deleteall /many; delete /big")

    def test_answers_that_a_proxy_packs_together(self):
        proxy = PackingProxy(os.path.join(self.directory, "right.pem"), self.right.address)
        self.addCleanup(proxy.close)
        options = ["-s", proxy.address, "--tls-ca", self.ca, "-t", "120s", "-o", "plain"]
        self.works(*options, "fill", "/packed", "-n", "300", "-s", "10")
        begun = time.monotonic()
        self.assertEqual(301, len(self.works(*options, "find", "/packed").splitlines()))
        self.works(*options, "deleteall", "/packed")
        self.assertLess(time.monotonic() - begun, 30)  # the next heartbeat brings what was left lying

    def test_an_authority_that_signed_nothing_here(self):
        self.fails(3, "certificate is refused: unable to get local issuer certificate", "-s", self.right.secure,
                   "--tls-ca", self.other_ca, "ls", "/")
        self.fails(3, "certificate is refused", "-s", self.right.secure, "--tls", "ls", "/")

    def test_an_expired_certificate(self):
        certificate = self.authority.issue("expired", days=0)  # OpenSSL 3.5 creates none that ends before it begins
        end = int(time.time()) + 1
        server = self.server(certificate)
        wait_until(lambda: time.time() > end)
        self.fails(3, "certificate is refused: certificate has expired", "-s", server.secure, "--tls-ca", self.ca,
                   "ls", "/")
        self.assertEqual("[zookeeper]\n", self.works("-s", server.secure, "--tls-no-verify", "ls", "/"))

    def test_a_certificate_for_another_host(self):
        server = self.server(self.authority.issue("other", "DNS:zookeeper.example"))
        options = ["-s", server.secure, "--tls-ca", self.ca]
        self.fails(3, "certificate is not for 127.0.0.1, but for zookeeper.example", *options, "ls", "/")
        self.assertEqual("[zookeeper]\n", self.works(*options, "--tls-no-verify", "ls", "/"))
        properties = self.file("unnamed.properties", f"zookeeper.client.secure=true\n"
                               f"zookeeper.ssl.trustStore.location={self.ca}\n"
                               f"zookeeper.ssl.hostnameVerification=false\n")
        self.assertEqual("[zookeeper]\n", self.works("-s", server.secure, "-client-configuration", properties, "ls", "/"))

    def test_a_server_that_demands_a_client_certificate(self):
        server = self.server(os.path.join(self.directory, "right.pem"), "need")
        options = ["-s", server.secure, "--tls-ca", self.ca]
        self.fails(3, "it may want a client certificate: --tls-cert", *options, "ls", "/")
        stranger = Authority(self.directory, "elsewhere").issue("intruder")
        self.fails(3, "TLS: the server refuses", *options, "--tls-cert", stranger, "ls", "/")
        self.assertEqual("[zookeeper]\n", self.works(*options, "--tls-cert", self.client, "ls", "/"))
        apart = [os.path.join(self.directory, f"client.{part}") for part in ("crt", "key")]
        self.assertEqual("[zookeeper]\n", self.works(*options, "--tls-cert", apart[0], "--tls-key", apart[1], "ls", "/"))
        self.assertIn("CN=client", self.works(*options, "-o", "plain", "--tls-cert", self.client, "-c",
                                              "create /mine x auth::cdrwa; getAcl /mine; get /mine; delete /mine"))
        self.keys_with_a_password(options)
        properties = self.file("client.properties", f"zookeeper.client.secure=true\n"
                               f"zookeeper.ssl.keyStore.location={self.client}\n"
                               f"zookeeper.ssl.trustStore.location={self.ca}\n"
                               "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty\n")
        self.assertEqual("[zookeeper]\n", self.works("-s", server.secure, "-client-configuration", properties, "ls", "/"))

    def keys_with_a_password(self, options):
        locked = os.path.join(self.directory, "locked.key")
        subprocess.run(["openssl", "ec", "-aes256", "-passout", f"pass:{PASSWORD}", "-in",
                        os.path.join(self.directory, "client.key"), "-out", locked], check=True, capture_output=True)
        options = [*options, "--tls-cert", os.path.join(self.directory, "client.crt"), "--tls-key", locked]
        right = self.file("password", PASSWORD + "\n")
        self.assertEqual("[zookeeper]\n", self.works(*options, "--tls-key-password-file", right, "ls", "/"))
        self.fails(2, "it has a password", *options, "ls", "/")
        wrong = self.file("wrong", PASSWORD + "x\n")
        err = self.fails(2, "its password is another one", *options, "--tls-key-password-file", wrong, "ls", "/")
        self.assertNotIn(PASSWORD, err)
        options[-1] = self.key_of_nothing(PASSWORD + "x")
        self.fails(2, "its password is another one", *options, "--tls-key-password-file", wrong, "ls", "/")
        options[-1] = locked
        self.assertNotIn(PASSWORD, self.works(*options, "--tls-key-password-file", right, "--show-config"))
        os.chmod(right, 0o644)
        status, _, err, _ = self.zksh(*options, "--tls-key-password-file", right, "ls", "/")
        self.assertIn("other users can read or write the credentials", err)
        self.assertEqual(0, status)

    def test_a_server_that_says_nothing_is_left_for_another(self):
        """It is met first in one of two runs, as one that was reached while it started, or is frozen."""
        met = []

        def behave(connection):
            met.append(connection.hello())
            connection.stay()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority.issue("silent"))
        with BrokenServer(behave, context) as silent:
            servers = f"{silent.address},{self.right.secure}"
            for _ in range(30):
                status, out, err, seconds = self.zksh("-s", servers, "--tls-ca", self.ca, "-t", "120s",
                                                      "--connect-timeout", "120s", "ls", "/")
                self.assertEqual((0, "[zookeeper]\n", ""), (status, out, err))
                self.assertLess(seconds, 30)  # the C client would wait for 80
                if met:
                    return
        self.fail("it was never asked")

    def key_of_nothing(self, password):
        """A file as a key's of which a wrong password makes sense, as one of 256 does at random."""
        salt = bytes(range(16))
        key = b""
        while len(key) < 32:  # EVP_BytesToKey(3)
            key += hashlib.md5(key[-16:] + password.encode() + salt[:8]).digest()
        body = subprocess.run(["openssl", "enc", "-aes-256-cbc", "-a", "-K", key.hex(), "-iv", salt.hex()],
                              input=b"no key", check=True, capture_output=True).stdout.decode()
        return self.file("nothing.key", "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
                         f"DEK-Info: AES-256-CBC,{salt.hex().upper()}\n\n{body}-----END EC PRIVATE KEY-----\n")

    def test_a_port_without_tls(self):
        self.fails(3, "hangs up during the handshake; is this its TLS port?", "-s", self.right.address, "--tls-ca", self.ca, "ls", "/")

    def test_a_port_that_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as mute:
            self.fails(3, "the server does not answer the handshake", "-s", f"127.0.0.1:{mute.getsockname()[1]}",
                       "--tls-ca", self.ca, "ls", "/")

    def test_a_connection_that_is_lost(self):
        server = self.server(os.path.join(self.directory, "right.pem"))
        shell = self.shell("-s", server.secure, "--tls-ca", self.ca)
        shell.answer("create /mine", "/mine")
        server.restart()
        shell.answer("create /mine/not", "/mine/not")

    def test_ctrl_c_during_a_handshake(self):
        with socket.create_server(("127.0.0.1", 0)) as mute:
            words = [ZKSH, "-s", f"127.0.0.1:{mute.getsockname()[1]}", "--tls-ca", self.ca, "ls", "/"]

            def ends_soon():
                """Before the handshake would be given up, after 5 s; on a busy machine once at least."""
                begun = time.monotonic()
                process = subprocess.Popen(words, env=self.environment(), stderr=subprocess.DEVNULL)
                with mute.accept()[0] as connection:
                    connection.recv(1)
                    process.send_signal(signal.SIGINT)
                    status = process.wait(60)
                return status == 130 and time.monotonic() - begun < 5
            wait_until(ends_soon)

    def test_one_good_server_of_two(self):
        with socket.create_server(("127.0.0.1", 0)) as wrong:
            def close_all():
                while True:
                    try:
                        wrong.accept()[0].close()
                    except OSError:
                        return
            threading.Thread(target=close_all, daemon=True).start()
            servers = f"127.0.0.1:{wrong.getsockname()[1]},{self.right.secure}"
            self.assertEqual("[zookeeper]\n", self.works("-s", servers, "--tls-ca", self.ca, "ls", "/"))
            wrong.shutdown(socket.SHUT_RDWR)

    def test_plain_text_to_a_port_for_tls(self):
        self.fails(3, "no connection", "-s", self.right.secure, "--connect-timeout", "2s", "ls", "/")

    def test_a_profile(self):
        self.file("zksh/config", f"[secure]\nserver = {self.right.secure}\ntls-ca = {self.ca}\n"
                  f"[plain]\nserver = {self.right.address}\n")
        self.assertEqual("[zookeeper]\n", self.works("-p", "secure", "ls", "/"))
        self.assertEqual("[zookeeper]\n", self.works("-p", "plain", "ls", "/"))
        # A sandbox has no TLS, whatever is configured.
        self.assertEqual((0, "[zookeeper]\n"), self.zksh("-p", "secure", "--sandbox", "ls", "/")[:2])
        os.unlink(os.path.join(self.directory, "zksh/config"))

    def test_a_wish_for_tls_that_another_place_denies(self):
        """What is more specific counts, and plain text is nothing that anybody gets by mistake."""
        config = self.file("zksh/config", f"tls-ca = {self.ca}\n[plain]\nserver = {self.right.address}\ntls = off\n"
                           f"[both]\ntls = off\ntls-verify = off\n[secure]\nserver = {self.right.secure}\ntls = off\n")
        self.addCleanup(os.remove, config)
        self.works("-p", "plain", "ls", "/")
        for words in (["--tls-ca", self.ca], ["--tls-cert", self.client], ["--tls-no-verify"], ["--tls"],
                      ["-client-configuration", self.file("s.properties", "zookeeper.client.secure=True \n")]):
            with self.subTest(words):
                self.works("-p", "secure", *words, "ls", "/")
        self.fails(2, "tls (", "-p", "both", "ls", "/")
        self.fails(2, "--tls is off, but --tls-ca asks for TLS; remove one of them", "--tls=off", "--tls-ca", self.ca, "ls", "/")
        self.fails(2, "sets zookeeper.client.secure: its value is neither true nor false", "-client-configuration",
                   self.file("n.properties", "zookeeper.client.secure=yes\n"), "ls", "/")

    def test_files_that_cannot_be_used(self):
        for words, expected in ((["--tls-ca", "/nonexistent"], "No such file"), (["--tls-ca", __file__], "no certificate"),
                                (["--tls-cert", "/nonexistent"], "No such file"), (["--tls-cert", self.ca], "has no key in its file; name the key's file with tls-key"),
                                (["--tls-cert", self.client, "--tls-key", __file__], "key"),
                                (["--tls-key", self.client], "give it with --tls-cert")):
            with self.subTest(words=words):
                self.fails(2, expected, "-s", self.right.secure, *words, "ls", "/")

    def test_java_keystores(self):
        store = os.path.join(self.directory, "store.jks")
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", self.ca, "-keystore", store,
                        "-storetype", "JKS", "-storepass", PASSWORD], check=True, capture_output=True)
        for name in ("keyStore", "trustStore"):
            properties = self.file("java.properties", f"zookeeper.client.secure=true\nzookeeper.ssl.{name}.location={store}\n"
                                   f"zookeeper.ssl.{name}.password={PASSWORD}\n")
            err = self.fails(2, f"keytool -importkeystore -srckeystore {store}", "-client-configuration", properties, "ls", "/")
            self.assertNotIn(PASSWORD, err)


if __name__ == "__main__":
    main()
