"""SASL GSSAPI with a real KDC and a server with a keytab: identities, tickets that are missing, and a KDC that is silent."""
import os
import signal
import subprocess
import time

from tls_case import ZKSH, Server, TlsCase, main
from kerberos import REALM, Realm
from proxy import Proxy
from waiting import wait_until


class Kerberos(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.realm = Realm(cls.directory)
        cls.addClassCleanup(cls.realm.close)
        jaas = cls.file("jaas.conf", f"""Server {{
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true storeKey=true useTicketCache=false
  keyTab="{cls.realm.keytab("zookeeper/localhost")}" principal="zookeeper/localhost@{REALM}";
}};
""")
        cls.keytab = cls.realm.keytab("ann")
        cls.tickets = cls.realm.ticket("ann", cls.keytab)
        cls.server = cls.enterClassContext(Server(jvm_flags=[
            f"-Djava.security.auth.login.config={jaas}", f"-Djava.security.krb5.conf={cls.realm.config}",
            "-Dzookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"]))
        cls.options = ["-s", f"localhost:{cls.server.port}", "--sasl-mechanism", "GSSAPI", "-o", "plain"]

    def tearDown(self):
        self.realm.thaw()
        self.get_ticket()

    @classmethod
    def get_ticket(cls):
        """A new one for the user, and with that none for a server."""
        cls.realm.ticket("ann", cls.keytab)

    def environment(self):
        return {**super().environment(), **self.realm.environment, "KRB5CCNAME": self.tickets}

    def test_a_user_has_what_the_user_owns(self):
        self.works(*self.options, "create", "/mine", "x", f"sasl:ann@{REALM}:cdrwa")
        self.assertEqual("x", self.works(*self.options, "get", "/mine"))
        self.assertEqual(7, self.zksh(*self.options[:2], "get", "/mine")[0])
        self.assertEqual(f"ip:127.0.0.1\nsasl:ann@{REALM}\n", self.works(*self.options, "whoami"))
        self.assertEqual(f"sasl:ann@{REALM}:cdrwa\n",
                         self.works(*self.options, "-c", "create /own x auth::cdrwa; getAcl /own; delete /own").removeprefix("/own\n"))
        self.works(*self.options, "delete", "/mine")

    def test_the_first_session_is_one_that_connect_opens(self):
        words = [*self.options[2:], "-c", f"connect {self.options[1]}; whoami"]
        self.assertIn(f"sasl:ann@{REALM}\n", self.works(*words))

    def test_after_a_restart_of_the_server_the_user_is_the_same(self):
        shell = self.shell(*self.options)
        shell.answer(f"create /again mine sasl:ann@{REALM}:cdrwa", "/again")
        self.server.restart()
        shell.answer("get /again", "mine")
        self.works(*self.options, "delete", "/again")

    def test_no_ticket(self):
        os.rename(self.tickets[5:], self.tickets[5:] + ".away")
        err = self.fails(7, "authentication failed: Kerberos gives no ticket for zookeeper/localhost: No Kerberos credentials available",
                         *self.options, "ls", "/")
        self.assertIn("; get a ticket with kinit, then connect again", err)
        # `connect` needs no new zksh.
        shell = self.shell(*self.options)
        shell.give("ls /")
        wait_until(lambda: "stdin:1: failed" in shell.read())
        self.get_ticket()
        shell.give(f"connect {self.options[1]}")
        shell.answer("whoami", f"sasl:ann@{REALM}")

    def test_a_ticket_that_has_expired(self):
        self.realm.ticket("ann", self.keytab, "1s")
        wait_until(lambda: subprocess.run(["klist", "-s"], env=self.environment(), check=False).returncode != 0)
        self.fails(7, "kinit", *self.options, "ls", "/")

    def test_a_server_that_the_kdc_does_not_know(self):
        err = self.fails(7, "name the servers as their principals do, zookeeper/HOST", "-s", self.server.address, *self.options[2:], "ls", "/")
        self.assertIn("zookeeper/127.0.0.1", err)

    def test_a_server_without_sasl(self):
        with Server() as server:
            self.fails(7, "do not support SASL GSSAPI", "-s", f"localhost:{server.port}", *self.options[2:], "ls", "/")

    def test_a_silent_kdc(self):
        self.realm.freeze()
        self.fails(7, "no Kerberos server (KDC) has answered for 8s", *self.options, "ls", "/")

        def gives_up():
            """Before it would give up the KDC; on a busy machine the server may not have greeted by then."""
            told.append(self.zksh(*self.options, "--connect-timeout", "3s", "ls", "/"))
            return told[-1][0] == 3 and "Kerberos has not answered yet" in told[-1][2]
        told = []
        wait_until(gives_up, said=lambda: told[-1])

    def test_ctrl_c_while_a_kdc_is_silent(self):
        self.realm.freeze()
        started = []

        def is_seen_to_ask():
            """On a busy machine it may have given up the KDC before that is seen."""
            if not started or started[-1].poll() is not None:
                started.append(subprocess.Popen([ZKSH, *self.options, "ls", "/"], env=self.environment(),
                                                stderr=subprocess.DEVNULL))
                self.addCleanup(started[-1].kill)
            return self.asks(started[-1].pid)
        wait_until(is_seen_to_ask, 100)
        process = started[-1]
        process.send_signal(signal.SIGINT)
        self.assertEqual(130, process.wait(6))  # before it would give up the KDC

    def asks(self, pid):
        """Whether the process has a socket for the KDC."""
        out = subprocess.run(["ss", "-Hnup", "dst", f"127.0.0.1:{self.realm.port}"], capture_output=True, text=True, check=True).stdout
        return f"pid={pid}," in out

    def test_another_session_goes_on_while_a_kdc_is_silent(self):
        # Of lines on piped input, none after connect may reach the old session.
        # Without heartbeats it would end before the KDC is given up, though servers count in ticks of 2 s.
        shell = self.shell(*self.options, "--timeout", "6s", "-f", "-")
        shell.answer("create -e /short x", "/short")
        self.get_ticket()
        self.realm.freeze()
        begun = time.monotonic()
        shell.give(f"connect {self.options[1]}")
        wait_until(lambda: "the current session stays open" in shell.read())
        self.assertGreater(time.monotonic() - begun, 7)
        shell.answer("get /short", "x")

    def test_a_session_outlasts_a_kdc_that_is_away(self):
        with Proxy(self.server.port) as proxy:
            shell = self.shell("-s", f"localhost:{proxy.address.split(':')[1]}", *self.options[2:])
            shell.answer("create -e /lasting x", "/lasting")
            self.get_ticket()
            self.realm.freeze()
            proxy.cut()
            shell.give("ls /lasting")  # prints nothing, whenever it is answered
            wait_until(lambda: self.asks(shell.process.pid))
            self.realm.thaw()
            shell.answer("get /lasting", "x")


if __name__ == "__main__":
    main()
