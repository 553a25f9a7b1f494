"""SASL DIGEST-MD5 against a real server with a JAAS file; the password is not leaked."""
import os
import struct
import subprocess
import unittest

from tls_case import ZKSH, Server, Shell, TlsCase, main
from broken_server import BrokenServer
from ensemble import Ensemble
from proxy import Proxy
from waiting import wait_until
from znodes import pack_string

PASSWORD = "hunter2-Zq9"
JAAS = f"""Server {{
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_ann="{PASSWORD}";
}};
"""


class Sasl(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # In FIPS mode, the default, servers of 3.9.4 and later refuse DIGEST-MD5.
        cls.flags = ["-Dzookeeper.fips-mode=false", f"-Djava.security.auth.login.config={cls.file('jaas.conf', JAAS)}",
                     "-Dzookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"]
        cls.server = cls.enterClassContext(Server(jvm_flags=cls.flags))
        cls.password = cls.file("password", PASSWORD + "\n")

    def tearDown(self):
        for name in ("zksh/config", "open"):
            if os.path.exists(os.path.join(self.directory, name)):
                os.unlink(os.path.join(self.directory, name))

    def options(self, user="ann", password=None):
        return ["-s", self.server.address, "--sasl-user", user, "--sasl-password-file", password or self.password]

    def test_a_user_has_what_the_user_owns(self):
        self.works(*self.options(), "-o", "plain", "create", "/mine", "x", "sasl:ann:cdrwa")
        self.assertEqual("x\n", self.works(*self.options(), "get", "/mine"))
        self.assertEqual(7, self.zksh("-s", self.server.address, "get", "/mine")[0])
        self.assertEqual("sasl:ann\nip:127.0.0.1\n", self.works(*self.options(), "-o", "plain", "whoami"))
        self.works(*self.options(), "--sasl-mechanism", "DIGEST-MD5", "delete", "/mine")

    def test_zkclis_events(self):
        """In its place: scripts take the result from below both."""
        events = [f"\nWATCHER::\n\nWatchedEvent state:{state} type:None path:null\n"
                  for state in ("SyncConnected", "SaslAuthenticated")]
        self.assertEqual(f"Connecting to {self.server.address}\n{''.join(events)}[]\n",
                         self.works("--as", "zkcli", *self.options(), "ls", "/zookeeper/quota"))

    def shell(self, *words):
        """One that has made /again for its user alone."""
        shell = super().shell(*words)
        shell.answer("create /again mine sasl:ann:cdrwa", "/again")
        return shell

    def test_after_a_lost_connection_the_user_is_the_same(self):
        shell = self.shell(*self.options())
        self.server.restart()
        shell.answer("get /again", "mine")
        self.works(*self.options(), "deleteall", "/again")

    def test_at_another_server_the_user_is_the_same(self):
        with Ensemble(jvm_flags=self.flags) as ensemble:
            followers = [server for server in ensemble.servers if server.mode() == "follower"]
            servers = ",".join(server.address for server in followers)
            shell = self.shell("-s", servers, *self.options()[2:])
            # It is at one of them: it moves once at least.
            for server in followers:
                server.kill()
                shell.answer("get /again", "mine")
                server.start()
                server.wait_mode("follower", "leader")

    def test_a_wrong_password(self):
        wrong = self.file("wrong", PASSWORD + "x\n")
        err = self.fails(7, "authentication failed", *self.options(password=wrong), "ls", "/")
        self.assertIn("SASL", err)
        self.assertNotIn(PASSWORD, err)

    def test_an_unknown_user(self):
        # With a password of its own: servers of 3.8 may let anyone in who has the last user's.
        own = self.file("own", "another\n")
        self.fails(7, "refused the user bob", *self.options("bob", own), "ls", "/")

    def test_a_server_without_sasl(self):
        with Server() as server:
            self.fails(7, "do not support SASL DIGEST-MD5 (3.9.4 and later need -Dzookeeper.fips-mode=false)", "-s", server.address, "--sasl-user", "ann",
                       "--sasl-password-file", self.password, "ls", "/")

    def test_a_mechanism_that_there_is_not(self):
        for name in ("NONESUCH", "CRAM-MD5", "PLAIN"):
            self.fails(2, f"ZooKeeper's servers support DIGEST-MD5 and GSSAPI, not {name}", *self.options(), "--sasl-mechanism", name,
                       "ls", "/")

    def test_a_server_that_answers_something_else(self):
        header = struct.Struct(">iqi").pack
        for name, answer in {
                "an event": lambda xid: header(-1, 0, 0) + struct.pack(">ii", 1, 3) + pack_string("/a"),
                "a ping's answer": lambda xid: header(-2, 0, 0),
                "a credential's answer": lambda xid: header(-4, 0, 0),
                "another's answer": lambda xid: header(xid + 1, 0, 0) + pack_string("token"),
                "no token": lambda xid: header(xid, 0, 0),
                "a null token": lambda xid: header(xid, 0, 0) + struct.pack(">i", -1),
                "an empty token": lambda xid: header(xid, 0, 0) + pack_string(""),
                "a token of 2 GiB": lambda xid: header(xid, 0, 0) + struct.pack(">i", 2**31 - 1),
                "a token that is no challenge": lambda xid: header(xid, 0, 0) + pack_string("x" * 5000),
                "a refusal": lambda xid: header(xid, 0, -115),
                "a positive code": lambda xid: header(xid, 0, 5)}.items():
            def serve(connection, answer=answer):
                connection.greet()
                while True:
                    connection.request()
                    connection.send_frame(answer(connection.xid))
            with self.subTest(name), BrokenServer(serve) as server:
                status, out, err, _ = self.zksh("-s", server.address, *self.options()[2:], "--connect-timeout", "2s", "get", "/a")
                self.assertIn(status, (3, 7), err)
                self.assertEqual("", out)
                self.assertNotIn("ssertion", err)
                self.assertNotIn(PASSWORD, err)

    @unittest.skipUnless("MOVING_NAMES_LIBRARY" in os.environ, "a sanitizer's program loads no other getaddrinfo")
    def test_names_that_do_not_resolve_keep_no_session_from_authenticating(self):
        """Of servers that were lost, while look-ups hang for longer than a lock can wait."""
        names = self.file("names", "server.example 127.0.0.1\n")
        environment = {**self.environment(), "LD_PRELOAD": os.environ["MOVING_NAMES_LIBRARY"], "MOVING_NAMES": names}

        def words(proxy):
            return [ZKSH, "-s", f"server.example:{proxy.address.split(':')[1]}", *self.options()[2:], "-t", "12s"]
        with Proxy(self.server.port) as proxy, Proxy(self.server.port) as lost:
            holder = subprocess.Popen([*words(proxy), "lock", "/names", "--", "sh", "-c", "echo; exec sleep 16"],
                                      env=environment, stdout=subprocess.PIPE)
            shell = self.enterContext(Shell([*words(lost), "-o", "plain", "--keep-going"], environment))
            shell.answer("whoami", "sasl:ann")
            holder.stdout.readline()
            self.file("names", "server.example hang\n")
            proxy.cut()
            lost.close()
            shell.give(f"connect {self.server.address}")
            shell.answer("whoami", "sasl:ann")
            self.assertEqual(0, holder.wait(60), "the lock was lost")
            holder.stdout.close()

    @unittest.skipUnless("TWO_STEP_GSSAPI" in os.environ, "a sanitizer's program loads no other SASL")
    def test_a_connection_lost_in_the_last_step_of_gssapi(self):
        """The next one authenticates from the first step on, before anything else is asked (ZOOKEEPER-4614)."""
        connections, lost = [], []

        def serve(connection):
            seen = []
            connections.append(seen)
            connection.greet(timeout=30000)
            while True:
                body = connection.request()
                if connection.operation != 102:
                    seen.append(connection.operation)
                    connection.send(connection.answer())
                    continue
                seen.append(body[12:].decode())
                if len(seen) == 2 and not lost:
                    lost.append(connection)
                    return
                connection.send_frame(struct.pack(">iqi", connection.xid, 1, 0) + pack_string("go on"))

        with BrokenServer(serve) as server:
            words = [ZKSH, "-s", server.address, "--sasl-mechanism", "GSSAPI", "get", "/a"]
            environment = {**self.environment(), "LD_LIBRARY_PATH": os.path.dirname(os.environ["TWO_STEP_GSSAPI"])}
            done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=60, check=False)
        self.assertEqual((0, "x\n"), (done.returncode, done.stdout), done.stderr)
        # One that is given up before anything is asked there says nothing.
        self.assertEqual([["one", "two"], ["one", "two", 4]], [seen[:3] for seen in connections if seen])

    def test_what_is_missing(self):
        server = ["-s", self.server.address]
        self.fails(2, "--sasl-user", *server, "--sasl-password-file", self.password, "ls", "/")
        self.fails(2, "--sasl-password-file", *server, "--sasl-user", "ann", "ls", "/")
        self.fails(2, "No such file", *self.options(password="/nonexistent"), "ls", "/")
        self.fails(2, "no password", *self.options(password=self.file("empty", "\n")), "ls", "/")

    def test_a_file_that_others_can_read(self):
        status, _, err, _ = self.zksh(*self.options(password=self.file("open", PASSWORD, 0o644)), "ls", "/")
        self.assertEqual(0, status)
        self.assertIn("other users can read or write the credentials", err)
        self.assertNotIn(PASSWORD, err)

    def test_a_profile(self):
        self.file("zksh/config", f"[ann]\nserver = {self.server.address}\nsasl-user = ann\n"
                  f"sasl-password-file = {self.password}\n")
        self.works("-p", "ann", "-c", "create /theirs x sasl:ann:cdrwa; get /theirs; delete /theirs", "-o", "plain")

    def test_java_names_of_a_jaas_section(self):
        properties = self.file("sasl.properties", "zookeeper.sasl.clientconfig=Client\n")
        self.fails(2, "names no JAAS file that zksh could read", "-s", self.server.address, "-client-configuration", properties, "ls", "/")
        self.works(*self.options(), "-client-configuration", properties, "ls", "/")

    def test_the_password_is_nowhere(self):
        words = [ZKSH, *self.options(), "--log-level", "4", "-o", "plain"]
        with open(os.path.join(self.directory, "log"), "w+", encoding="utf-8") as log:
            shell = subprocess.Popen(words, env=self.environment(), stdin=subprocess.PIPE, stdout=log, stderr=log, text=True)
            self.addCleanup(shell.kill)
            shell.stdin.write("whoami\nlock /l -- sh -c 'cat /proc/$PPID/cmdline /proc/$$/environ; echo seen'\n")
            shell.stdin.flush()
            wait_until(lambda: "seen" in self.read(log.name))
            with open(f"/proc/{shell.pid}/cmdline", encoding="utf-8") as file:
                self.assertNotIn(PASSWORD, file.read())
            shell.communicate("deleteall /l\n", timeout=60)
        self.assertNotIn(PASSWORD, self.read(log.name))
        self.assertNotIn(PASSWORD, self.works(*self.options(), "--show-config"))

    @staticmethod
    def read(name):
        with open(name, encoding="utf-8", errors="replace") as file:
            return file.read()


if __name__ == "__main__":
    main()
