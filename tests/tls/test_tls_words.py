"""Four-letter words and AdminServers over TLS: answered, checked as sessions are, and bounded whatever the server does."""
import os
import select
import socket
import ssl
import unittest

from certificates import Authority
from tls_case import TlsCase, free_port, main
from broken_server import BrokenServer
from waiting import readable, wait_until

SERVLET_API = "/usr/share/java/servlet-api.jar"
ASK = ("4lw", "-t", "30s")  # a server's first handshake takes long on a busy machine
CONF = "clientPort=1\nsecureClientPort={}\nserverId=1\n"


class TlsWords(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate = cls.authority.issue("server")
        cls.client = cls.authority.issue("client")
        cls.right = cls.server(cls.certificate, cls.ca)

    def context(self, certificate=None):
        """For a server of the test's own."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate or self.certificate)
        return context

    def answering(self, answers, **how):
        """A server that knows a few words, and ends their answers as TLS wants it."""
        def behave(connection):
            connection.send(answers.get(connection.read(4).decode(), "?").encode())
            connection.link.unwrap()
        return self.enterContext(BrokenServer(behave, self.context(**how)))

    def test_real_servers(self):
        options = ["-s", self.right.secure, "--tls-ca", self.ca]
        self.assertIn("\nMode: standalone\n", self.works(*options, *ASK, "srvr"))
        self.assertIn(f"\nsecureClientPort={self.right.secure_port}\n", self.works(*options, *ASK, "conf"))
        self.assertIn("healthy: ", self.works(*options, "health", "-t", "30s"))
        shell = self.shell(*options)
        shell.answer("create -e /mine x", "/mine")
        self.assertRegex(self.works(*options, "who", "-t", "30s", "/mine"), rf"client: 127[.]0[.]0[.]1:\d+.*{self.right.secure}")
        name = f"localhost:{self.right.secure_port}"
        self.assertEqual("imok\n", self.works("-s", name, "--tls-ca", self.ca, *ASK, "ruok"))

    def test_a_server_that_demands_a_client_certificate(self):
        server = self.server(self.certificate, self.ca, "need")
        options = ["-s", server.secure, "--tls-ca", self.ca]
        self.fails(3, "it may want a client certificate: --tls-cert", *options, *ASK, "srvr")
        self.assertIn("\nMode: standalone\n", self.works(*options, "--tls-cert", self.client, *ASK, "srvr"))

    def test_what_is_wrong_is_said_once(self):
        """As for sessions, in bounded time."""
        other = Authority(self.directory, "stranger").certificate
        named = self.answering({"ruok": "imok"}, certificate=self.authority.issue("other", "DNS:zookeeper.example")).address
        for server, options, expected in (
                (self.right.secure, ["--tls-ca", other], "TLS: the server's certificate is refused: unable to get local issuer"),
                (named, ["--tls-ca", self.ca], "TLS: the server's certificate is not for 127.0.0.1, but for zookeeper.example"),
                (self.right.address, ["--tls-ca", self.ca], "TLS: the server hangs up during the handshake; is this its TLS port?")):
            with self.subTest(expected=expected):
                err = self.fails(3, f"{server}: {expected}", "-s", server, *options, *ASK, "ruok")
                self.assertEqual(1, err.count("TLS:"), err)
                status, out, err, _ = self.zksh("-s", server, *options, "health", "-t", "30s")
                self.assertEqual(3, status, err)
                self.assertIn(expected, out + err)
        self.assertEqual("imok\n", self.works("-s", named, "--tls-no-verify", *ASK, "ruok"))

    def test_no_word_is_sent_without_tls(self):
        heard = []
        with BrokenServer(lambda c: heard.append(c.link.recv(65536))) as plain:
            self.zksh("-s", plain.address, "--tls-ca", self.ca, "4lw", "-t", "30s", "srvr")
            wait_until(lambda: heard)
        self.assertEqual({b"\x16\x03"}, {data[:2] for data in heard})

    def test_handshakes_that_do_not_end(self):
        def silent(connection):
            connection.stay()

        def drips(connection):  # a record that is long
            connection.send(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xf0")
            while not readable(connection.link, 0.01) or connection.link.recv(65536):
                connection.send(b"x")
        for behave in (silent, drips):
            with self.subTest(behave.__name__), BrokenServer(behave) as server:
                status, out, err, seconds = self.zksh("-s", server.address, "--tls-ca", self.ca, "4lw", "-t", "5s", "srvr")
                self.assertEqual((3, ""), (status, out))
                self.assertIn(f"{server.address}: TLS: the server does not answer the handshake", err)
                self.assertLess(seconds, 30)

    def test_a_large_answer(self):
        text = "".join(f"zk_{i}\t{i}\n" for i in range(300_000))
        server = self.answering({"mntr": text})
        self.assertEqual(text, self.works("-s", server.address, "--tls-ca", self.ca, *ASK, "mntr"))

    def test_an_answer_that_somebody_cut_off(self):
        """A connection that ends without TLS's own end may hide the rest."""
        def behave(connection):
            connection.read(4)
            connection.send(b"zk_a\t1\n")
        with BrokenServer(behave, self.context()) as server:
            self.fails(3, "the connection broke in the middle of its answer", "-s", server.address, "--tls-ca", self.ca, *ASK, "mntr")

    def test_members_are_found(self):
        """All have the same port for TLS; those that the configuration names are for plain connections."""
        here = self.enterContext(BrokenServer(lambda c: self.tell(c), self.context(self.authority.issue("members", "IP:127.0.0.1,IP:127.0.0.2"))))
        port = int(here.address.partition(":")[2])
        there = self.enterContext(BrokenServer(lambda c: self.tell(c), self.context(os.path.join(self.directory, "members.pem")),
                                               at=("127.0.0.2", port)))
        self.conf = CONF.format(port) + "server.1=127.0.0.1:2888:3888:participant;127.0.0.1:1\nserver.2=127.0.0.2:2888:3888:participant;2\n"
        out = self.works("-s", here.address, "--tls-ca", self.ca, "-o", "plain", *ASK, "ruok")
        self.assertEqual([f"{here.address}\timok", f"{there.address}\timok"], out.splitlines())

    def tell(self, connection):
        word = connection.read(4)
        connection.send(self.conf.encode() if word == b"conf" else b"imok")
        connection.link.unwrap()

    def test_a_lock_learns_the_tick(self):
        """It is asked for with a word, which makes the lease longer."""
        first_bytes = []

        def behave(connection):
            first = connection.read(4)
            first_bytes.append(first)
            host, port = self.right.address.split(":")
            with socket.create_connection((host, int(port))) as real:
                real.sendall(first)
                pass_on(connection.link, real)
        with BrokenServer(behave, self.context()) as proxy:
            shell = self.shell("-s", proxy.address, "--tls-ca", self.ca, "-t", "4000")
            shell.give("lock /l")
            wait_until(lambda: b"conf" in first_bytes)


def pass_on(client, server):
    """Passes bytes both ways between a TLS client and a plain server."""
    while True:
        ready = [client] if client.pending() else select.select([client, server], [], [])[0]
        for link, other in ((client, server), (server, client)):
            if link not in ready:
                continue
            if not (data := link.recv(65536)):
                return
            other.sendall(data)


class AdminServers(TlsCase):
    """Of servers that answer no word but srvr, on a port that takes HTTP with and without TLS, or only one of them."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists(SERVLET_API):
            raise unittest.SkipTest(f"an AdminServer needs {SERVLET_API} (libservlet-api-java)")
        cls.certificate = cls.authority.issue("server")

    def serves(self, **config):
        """Its options, and the port of its AdminServer."""
        port = free_port()
        server = self.server(self.certificate, self.ca, config={
            "admin.enableServer": "true", "admin.serverAddress": "127.0.0.1", "admin.serverPort": str(port),
            "4lw.commands.whitelist": "srvr", "ssl.quorum.keyStore.location": self.certificate, "ssl.quorum.keyStore.type": "PEM",
            "ssl.quorum.trustStore.location": self.ca, "ssl.quorum.trustStore.type": "PEM", **config}, jars=[SERVLET_API])
        return ["-s", server.secure, "--tls-ca", self.ca, "--admin-server"], port

    def test_with_tls_alone(self):
        options, port = self.serves(**{"admin.portUnification": "true", "admin.forceHttps": "true"})
        for where in (str(port), f"https://:{port}", f"https://127.0.0.1:{port}/"):
            self.assertEqual("imok", self.works(*options, where, *ASK, "ruok").strip())
        self.fails(1, f"(127.0.0.1:{port}: it does not speak plain HTTP;", *options, f"http://:{port}", *ASK, "ruok")
        options[3] = Authority(self.directory, "stranger").certificate
        self.fails(3, "certificate is refused", *options, str(port), *ASK, "ruok")

    def test_without_tls(self):
        options, port = self.serves()
        address = f"127.0.0.1:{port}"
        self.fails(1, f"({address}: TLS: the server does not talk TLS on this port; --admin-server http://{address} asks it without TLS;",
                   *options, str(port), *ASK, "ruok")
        for where in (f"http://:{port}", f"http://{address}/"):
            self.assertEqual("imok", self.works(*options, where, *ASK, "ruok").strip())

    def test_tls_that_is_off(self):
        self.fails(2, "admin-server: https:// needs TLS for the servers, too (--tls)", "-s", "127.0.0.1:1", "--admin-server", "https://:8080",
                   *ASK, "ruok")


if __name__ == "__main__":
    main()
