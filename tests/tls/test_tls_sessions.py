"""Sessions over TLS that last: renewed certificates, lost connections, and TLS together with SASL."""
import os
import re
import socket
import ssl
import struct
import threading
import time

from certificates import Authority
from tls_case import TlsCase, main
from broken_server import ANSWERS, BrokenServer, Connection
from proxy import Proxy
from waiting import readable, wait_until

PASSWORD = "hunter2-Zq9"
CLOSE = -11
# Servers of 3.8 offer no cipher suite of TLS 1.3 by themselves.
SUITES = "TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


class TlsSessions(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate = cls.authority.issue("server")

    def replace(self, name, source, size=None):
        """Overwrites a file as some tools do that renew certificates: in place."""
        with open(source, "rb") as file:
            content = file.read(size)
        path = os.path.join(self.directory, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_tls_and_sasl_at_once(self):
        jaas = self.file("jaas.conf", f'Server {{\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n'
                         f'  user_ann="{PASSWORD}";\n}};\n')
        server = self.server(self.certificate, self.ca, jvm_flags=[
            "-Dzookeeper.fips-mode=false", f"-Djava.security.auth.login.config={jaas}",
            "-Dzookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"])
        options = ["-s", server.secure, "--tls-ca", self.ca, "--sasl-user", "ann", "--sasl-password-file"]
        right = self.file("right", PASSWORD + "\n")
        shell = self.shell(*options, right)
        shell.answer("create /mine x sasl:ann:cdrwa", "/mine")
        self.assertEqual(7, self.zksh("-s", server.secure, "--tls-ca", self.ca, "get", "/mine")[0])
        self.assertEqual("sasl:ann\nip:127.0.0.1\n", self.works(*options, right, "-o", "plain", "whoami"))
        server.restart()
        shell.answer("get /mine", "x")
        err = self.fails(7, "refused the user ann or the password", *options, self.file("wrong", PASSWORD + "x\n"), "ls", "/")
        self.assertNotIn(PASSWORD, err)
        self.fails(3, "certificate is refused", *options[:3], Authority(self.directory, "stranger").certificate, *options[4:], right, "ls", "/")

    def test_a_renewed_certificate(self):
        """The server's is one of a new authority, and so is the client's, which the server demands."""
        new = Authority(self.directory, "new")
        files = {"ca": (self.ca, new.certificate), "served.pem": (self.certificate, new.issue("new-server")),
                 "client.pem": (self.authority.issue("old-client"), new.issue("new-client"))}
        ca, served, client = (self.replace(name, old) for name, (old, _) in files.items())
        server = self.server(served, ca, "need")
        shell = self.shell("-s", server.secure, "--tls-ca", ca, "--tls-cert", client)
        shell.answer("create /mine x", "/mine")
        # The new ones are being written: what was read before is still in use.
        self.replace("ca", new.certificate, 300)
        self.replace("client.pem", files["client.pem"][1], 200)
        server.kill()
        self.replace("ca-of-server", self.ca)
        server.config["ssl.trustStore.location"] = os.path.join(self.directory, "ca-of-server")
        server.start()
        shell.answer("get /mine", "x")
        for name, (_, renewed) in files.items():
            self.replace(name, renewed)
        server.kill()
        server.config["ssl.trustStore.location"] = new.certificate
        server.start()
        shell.answer("get /mine", "x")

    def test_files_that_cannot_be_read(self):
        """As those on a file system that has stalled: a pipe into which nobody writes."""
        ca = self.replace("stalling", self.ca)
        server = self.server(self.certificate, self.ca, config={"maxSessionTimeout": "600000"})
        with Proxy(server.secure_port) as proxy:
            shell = self.shell("-s", proxy.address, "--tls-ca", ca, "-t", "120s")
            shell.answer("create /stalled x", "/stalled")
            os.remove(ca)
            os.mkfifo(ca)
            for _ in range(2):
                proxy.cut()
                begun = time.monotonic()
                shell.answer("get /stalled", "x")
                self.assertLess(time.monotonic() - begun, 30)  # before a heartbeat would be missed
            shell.answer("4lw -t 20s isro", "rw")
            shell.give("quit")
            self.assertEqual(shell.status, shell.process.wait(60))

    def test_versions(self):
        for name, version in VERSIONS.items():
            with self.subTest(name):
                server = self.server(self.certificate, self.ca, "need", {
                    "ssl.protocol": name, "ssl.enabledProtocols": name, "ssl.ciphersuites": SUITES})
                other = next(one for one in VERSIONS.values() if one != version)
                self.assertFalse(self.talks(server, other))
                options = ["-s", server.secure, "--tls-ca", self.ca]
                client = self.authority.issue("client")
                self.assertEqual("[zookeeper]\n", self.works(*options, "--tls-cert", client, "ls", "/"))
                self.fails(3, "it may want a client certificate: --tls-cert", *options, "ls", "/")
                stranger = Authority(self.directory, "elsewhere").issue("intruder")
                self.fails(3, "TLS: the server refuses", *options, "--tls-cert", stranger, "ls", "/")
                server.remove()

    def talks(self, server, version):
        context = ssl.create_default_context(cafile=self.ca)
        context.minimum_version = context.maximum_version = version
        with socket.create_connection(("127.0.0.1", server.secure_port)) as plain:
            try:
                context.wrap_socket(plain, server_hostname="localhost").close()
                return True
            except ssl.SSLError:
                return False

    def test_a_server_of_another_version(self):
        """Its alert is a protocol_version, for which a client certificate is no remedy."""
        with socket.create_server(("127.0.0.1", 0)) as old:
            def refuse():
                while True:
                    try:
                        with old.accept()[0] as connection:
                            connection.recv(4096)
                            connection.sendall(bytes([21, 3, 1, 0, 2, 2, 70]))
                    except OSError:
                        return
            threading.Thread(target=refuse, daemon=True).start()
            err = self.fails(3, "TLS: the server refuses", "-s", f"127.0.0.1:{old.getsockname()[1]}", "--tls-ca", self.ca, "ls", "/")
            self.assertIn("protocol version", err)
            self.assertNotIn("--tls-cert", err)
            old.shutdown(socket.SHUT_RDWR)

    def test_many_lost_connections(self):
        server = self.server(self.certificate, self.ca)
        with Proxy(server.secure_port) as proxy:
            shell = self.shell("-s", proxy.address, "--tls-ca", self.ca)
            shell.answer("create /much " + "x" * 60000, "/much")

            def lose(times):
                for _ in range(times):
                    proxy.cut()
                    shell.answer("get /much", "x" * 60000)
                return self.descriptors(shell), self.memory(shell)

            descriptors, memory = lose(10)
            _, more = lose(20)
            wait_until(lambda: self.descriptors(shell) <= descriptors)
        self.assertLess(more - memory, 400)  # a connection takes some 50 KiB

    @staticmethod
    def descriptors(shell):
        return len(os.listdir(f"/proc/{shell.process.pid}/fd"))

    @staticmethod
    def memory(shell):
        with open(f"/proc/{shell.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1])

    def test_several_names_of_one_address(self):
        server = self.server(self.authority.issue("named", "DNS:localhost"), self.ca)
        names = [f"{host}:{server.secure_port}" for host in ("127.0.0.1", "localhost")]
        for servers in (names, names[::-1]):
            for _ in range(4):  # which of them comes first is random
                self.assertEqual("[zookeeper]\n", self.works("-s", ",".join(servers), "--tls-ca", self.ca, "ls", "/"))
        self.fails(3, "certificate is not for 127.0.0.1, but for localhost", "-s", names[0], "--tls-ca", self.ca, "ls", "/")

    def test_a_server_is_told_its_name(self):
        """Also where it has an address beside that, whichever of the two comes first."""
        told = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority.issue("told"))
        context.sni_callback = lambda link, name, of: told.append(name)
        with BrokenServer(lambda c: (c.greet(timeout=30000), c.serve()), context) as server:
            port = server.address.partition(":")[2]
            names = [f"127.0.0.1:{port}", f"localhost:{port}"]
            for servers in (names, names[::-1]) * 4:
                self.works("-s", ",".join(servers), "--tls-ca", self.ca, "ls", "/")
            self.assertEqual({"localhost"}, set(told))
            told.clear()
            self.works("-s", names[0], "--tls-ca", self.ca, "ls", "/")
            self.assertEqual([None], told)

    def test_half_a_record_does_not_answer_the_close_request(self):
        """Nor does one of TLS's own. A client that hung up then would leave the session behind."""
        waited = []

        def behave(connection):
            server = TlsByHand(connection.link, self.certificate)
            (size,) = struct.unpack(">i", server.read(4))
            server.read(size)
            server.send(server.sealed(Connection.welcome(timeout=20000)))
            while True:
                (size,) = struct.unpack(">i", server.read(4))
                xid, operation = struct.unpack_from(">ii", server.read(size))
                body = struct.pack(">iqi", xid, 1, 0) + ANSWERS.get(operation, b"")
                record = server.sealed(struct.pack(">i", len(body)) + body)
                if operation == CLOSE:
                    server.send(record[:9])
                    waited.append(not readable(connection.link, 0.5))
                    server.send(record[9:])
                    return
                server.send(record)
        with BrokenServer(behave) as server:
            def is_awaited():
                """It waits for 1.5 s, which a server of a busy machine may sleep through."""
                waited.clear()
                self.works("-s", server.address, "--tls-ca", self.ca, "get", "/a")
                wait_until(lambda: waited)
                return waited == [True]
            wait_until(is_awaited)


class TlsByHand:
    """The server's side of TLS on a connection, record by record."""

    def __init__(self, link, certificate):
        self.link = link
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self._advance(self.tls.do_handshake)

    def _advance(self, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.send(self.outgoing.read())
                if not (data := self.link.recv(65536)):
                    raise ConnectionError("closed") from None
                self.incoming.write(data)

    def read(self, size):
        data = b""
        while len(data) < size:
            data += self._advance(lambda: self.tls.read(size - len(data)))  # pylint: disable=cell-var-from-loop
        return data

    def sealed(self, data):
        """The records of these bytes, and what TLS itself has to send."""
        self.tls.write(data)
        return self.outgoing.read()

    def send(self, records):
        self.link.sendall(records)


if __name__ == "__main__":
    main()
