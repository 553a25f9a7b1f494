"""AdminServers of servers that by default answer no four-letter word but srvr, and what happens without them."""
import json
import os
import re
import socket
import time
import unittest
import unittest.mock

from session_case import fetched
from broken_server import BrokenServer
from ensemble import Ensemble
from server import Server, four_letter_word, free_port
from waiting import readable, wait_until
from znodes import Znodes
from zksh import run_zksh

EPHEMERAL = 1
# Debian's server lacks it on its class path, and so runs without an AdminServer.
SERVLET_API = "/usr/share/java/servlet-api.jar"
WORDS = "conf cons crst dirs dump envi gtmk icfg isro mntr ruok srst srvr stat wchc wchp wchs".split()
LONG = ("-t", "20s")  # an answer may take long on a busy machine


def run(server, *words, admin="off"):
    """Status, stdout, stderr and seconds."""
    begin = time.monotonic()
    done = run_zksh("-s", server, "--admin-server", str(admin), *words)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - begin


def with_admin_server(port):
    return {"admin.enableServer": "true", "admin.serverAddress": "127.0.0.1", "admin.serverPort": str(port),
            "4lw.commands.whitelist": "srvr"}


class Versions:
    """What is tried on each; a class for each version is made of it below."""
    version = None

    @classmethod
    def setUpClass(cls):
        home = fetched(cls.version)
        if not os.path.exists(SERVLET_API):
            raise unittest.SkipTest(f"an AdminServer needs {SERVLET_API} (libservlet-api-java)")
        cls.home = home
        cls.admin = free_port()
        with unittest.mock.patch.dict(os.environ, {"ZOOKEEPER_HOME": home}):
            cls.server = Server(with_admin_server(cls.admin), jars=[SERVLET_API]).start()
            cls.addClassCleanup(cls.server.remove)
            cls.open = Server().start()
            cls.addClassCleanup(cls.open.remove)

    def ask(self, *words, status=0):
        result, out, err, _ = run(self.server.address, *words, admin=self.admin)
        self.assertEqual((status, ""), (result, err), out)
        return out

    @staticmethod
    def masked(text):
        """What differs between two servers, or two moments."""
        text = re.sub(r"(?m)^.*[.](class[.]path|dir|tmpdir|free|max|total|home)=.*$", "", text)
        text = re.sub(r"(?m)^0 expire at .*:\n", "", text)
        text = re.sub(r"\d+ expire at .*:", "EXPIRE", text)
        text = re.sub(r"0x[0-9a-f]+", "HEX", text)
        text = re.sub(r"(?m)^zk_.*_per_namespace.*\n", "", text)
        return re.sub(r"-?\d+([.]\d+)?", "N", re.sub(r"/tmp/\S+", "DIRECTORY", text))

    def test_words_answer_as_they_would(self):
        """The same from the AdminServer of one server as from the words of another like it."""
        for word in WORDS:
            with self.subTest(word=word), Znodes(self.server.address) as one, Znodes(self.open.address) as other:
                for znodes in (one, other):
                    znodes.create("/mine", b"", EPHEMERAL)
                    znodes.exists("/mine", True)
                told = self.masked(self.ask("4lw", *LONG, word)).splitlines()
                expected = self.masked(four_letter_word(self.open.port, word)).splitlines()
                if word == "icfg":
                    self.assertIn("admin.enableServer=true", told)
                elif word == "conf":
                    self.assertLessEqual({*told}, {*expected})
                    self.assertIn("clientPort=N", told)
                elif word in ("cons", "stat"):  # there the one that asks is a connection, too
                    self.assertLessEqual({*told}, {*expected})
                    self.assertGreater(len(told), 1)
                elif word == "dump":
                    self.assertEqual(told, expected[:expected.index("Connections dump:")])
                elif word == "mntr":
                    self.assertLess(len({*told} ^ {*expected}), 10, {*told} ^ {*expected})
                    self.assertGreater(len(told), 100)
                else:
                    self.assertEqual(told, expected)

    def test_who_and_wchc(self):
        with Znodes(self.server.address) as znodes:
            znodes.create("/mine", b"", EPHEMERAL)
            znodes.exists("/mine", True)
            found = json.loads(self.ask("who", *LONG, "-o", "json", "/mine"))
            self.assertTrue(found["ownerSession"]["alive"])
            self.assertEqual(found["ownerSession"]["server"], self.server.address)
            self.assertRegex(found["ownerSession"]["client"], r"^127[.]0[.]0[.]1:\d+$")
            self.assertEqual((found["ownerSession"]["ephemerals"], len(found["watchers"])), (["/mine"], 1))
            watches = json.loads(self.ask("wchc", *LONG, "-o", "json"))
            session = found["ownerSession"]["session"]
            self.assertEqual((watches["session"], watches["paths"]), (session, ["/mine"]))
            self.assertEqual(self.ask("wchc", *LONG, "-p", "-o", "plain"), f"/mine\t{session}\n")
            wait_until(lambda: "(client 127.0.0.1:" in self.ask("stat", "-h", "/mine"))  # it does not wait long
            found = json.loads(self.ask("who", *LONG, "-o", "json", "0x5", status=1))
            self.assertIs(found["alive"], False)

    def test_words_of_its_own(self):
        found = json.loads(self.ask("4lw", *LONG, "-o", "json", "last_snapshot"))
        self.assertEqual({"zxid", "timestamp"}, {*found["fields"]})
        self.assertRegex(self.ask("4lw", *LONG, "last_snapshot"), r"^zxid=[0-9a-fx]+\ntimestamp=\d+\n$")
        status, out, err, _ = run(self.server.address, "4lw", *LONG, "leader", admin=self.admin)
        self.assertEqual((3, ""), (status, out))
        self.assertIn("it says: server is not initialized", err)

    def test_health(self):
        found = json.loads(self.ask("health", *LONG, "-o", "json"))
        self.assertEqual((found["verdict"], found["notes"]), ("healthy", []))
        self.assertIsNotNone(found["members"][0]["openFiles"])

    def test_locks(self):
        with Znodes(self.server.address) as znodes, Znodes(self.server.address) as other:
            znodes.create("/l")
            znodes.create("/l/x-lock-0000000000", b"me", EPHEMERAL)
            other.exists("/l/x-lock-0000000000", True)

            def is_told():
                """It does not wait long for the server's words."""
                told.append(run(self.server.address, "locks", "-o", "json", "--watchers", "/l", admin=self.admin)[:3])
                (holder,) = json.loads(told[-1][1])["contenders"]
                return (told[-1][2] == "" and re.match(r"127[.]0[.]0[.]1:\d+$", holder["client"] or "") and
                        (holder["sessionAlive"], holder["otherWatchers"]) == (True, 1))
            told = []
            wait_until(is_told, said=lambda: told[-1])
            znodes.delete("/l/x-lock-0000000000")
            znodes.delete("/l")

    def test_contend(self):
        out = self.ask("-o", "plain", "contend", "/c", "-n", "5")
        self.assertRegex(out, r"(?m)^watchesLeft\t0$")

    def test_an_ensemble(self):
        """All servers from one, though none of them may say who they are; followers' AdminServers know no sessions."""
        with unittest.mock.patch.dict(os.environ, {"ZOOKEEPER_HOME": self.home}):
            ensemble = Ensemble(3, {"maxSessionTimeout": "600000"})
            ports = [free_port() for _ in ensemble.servers]
            for member, port in zip(ensemble.servers, ports):
                member.config.update(with_admin_server(port))
                member.jars = [SERVLET_API]
                for other in ensemble.servers:
                    member.config[f"server.{other.number}"] += f";{other.address}"
            with ensemble:
                admin = ",".join(f"127.0.0.1:{port}" for port in ports)

                def is_well():
                    status, out, err, _ = run(ensemble.connect_string, "health", *LONG, "-o", "json", admin=admin)
                    found = json.loads(out) if status == 0 else {}
                    seen.append((status, err, *map(found.get, ("voters", "syncedFollowers", "notes")),
                                 [member["serverId"] for member in found.get("members", [])]))
                    return seen[-1] == (0, "", 3, 2, [], [1, 2, 3])
                seen = []
                wait_until(is_well, 90, said=lambda: seen[-1])  # an AdminServer starts late, and may be slow
                follower = next(m for m in ensemble.servers if m.mode() == "follower")
                with Znodes(follower.address) as znodes:
                    znodes.create("/mine", b"", EPHEMERAL)
                    _, out, _, _ = run(ensemble.connect_string, "who", *LONG, "-o", "json", "/mine", admin=admin)
                    found = json.loads(out)
                    self.assertEqual((found["ownerSession"]["alive"], found["ownerSession"]["server"]), (True, follower.address))
                leader = next(m for m in ensemble.servers if m.mode() == "leader")
                port = ports[follower.number - 1]
                _, out, _, _ = run(follower.address, "4lw", *LONG, "-o", "json", "leader", follower.address, admin=port)
                fields = json.loads(out)["fields"]
                self.assertEqual((leader.number, "false"), (fields["leader_id"], fields["is_leader"]))
                _, out, _, _ = run(follower.address, "4lw", *LONG, "voting_view", follower.address, admin=port)
                self.assertEqual(["server.1", "server.2", "server.3"], [line.partition("=")[0] for line in out.splitlines()])
                # One that the leader would have to say is gone.
                port = ports[follower.number - 1]
                found = json.loads(run(follower.address, "who", *LONG, "-o", "json", "0x5", admin=port)[1])
                self.assertIsNone(found["alive"])


for named in (os.environ.get("ZKSH_TEST_SERVERS") or "3.8.0 3.9.3").split():
    if not named.startswith("3.4") and "/" not in named:
        name = "Version" + re.sub(r"\W+", "_", named)
        globals()[name] = type(name, (Versions, unittest.TestCase), {"version": named})


def web_server(serve, requests=None):
    """Does the same with each connection, once it has read a request, or its first four bytes; then closes it."""
    def behave(connection):
        request = connection.link.recv(4096).decode()
        if requests is not None:
            requests.append(request)
        serve(connection)
    return BrokenServer(behave)


def sends(text):
    return lambda connection: connection.send(text.encode("latin-1"))


def json_answer(text):
    return sends(f"HTTP/1.1 200 OK\r\nContent-Length: {len(text)}\r\n\r\n{text}")


REFUSAL = "mntr is not executed because it is not in the whitelist.\n"


class NoAdminServer(unittest.TestCase):
    """A server that refuses mntr, and what stands where its AdminServer would."""

    def ask(self, serve, server=sends(REFUSAL), patience="20s", limit=60):
        self.requests = []
        with web_server(server) as words_server, web_server(serve, self.requests) as web:
            self.web = web
            status, out, err, seconds = run(words_server.address, "4lw", "-t", patience, "mntr", words_server.address,
                                            admin=web.address.partition(":")[2])
            self.assertLess(seconds, limit)
            self.remedy = (f"{words_server.address}: mntr is not in its 4lw.commands.whitelist; to allow it, add mntr to "
                           "that line of its zoo.cfg and restart it")
            return status, out, err

    def assert_untold(self, serve, why, **how):
        status, out, err = self.ask(serve, **how)
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(err, f"{self.remedy}; its AdminServer does not answer either ({self.web.address}: {why}; "
                              "--admin-server sets its address)\n")

    def test_one_that_answers(self):
        status, out, err = self.ask(json_answer('{"a" : 1, "command" : "monitor", "error" : null}'))
        self.assertEqual((status, out, err), (0, "zk_a\t1\n", ""))
        self.assertIn(f"GET /commands/mntr HTTP/1.0\r\nHost: {self.web.address}\r\nUser-Agent: zksh\r\n"
                      "Accept: application/json\r\n\r\n", self.requests)

    def test_a_server_that_closes_the_connection(self):
        answer = json_answer('{"a" : 1, "command" : "monitor", "error" : null}')
        status, out, err = self.ask(answer, server=lambda connection: None)
        self.assertEqual((status, out, err), (0, "zk_a\t1\n", ""))
        status, out, err = self.ask(sends("no"), server=lambda connection: None)
        self.assertEqual((status, out), (3, ""))
        self.assertIn("closes the connection without an answer", err)
        self.assertIn("its AdminServer does not answer either", err)

    def test_what_is_no_admin_server(self):
        none = "its answer is not that of an AdminServer"
        for serve, why in (
                (sends("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "it answers with HTTP 404"),
                (sends("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"),
                 "it answers with HTTP 302, a redirect, which zksh does not follow"),
                (sends("\x15\x03\x03\x00\x02\x02\x28"), "it does not speak plain HTTP"),
                (sends("HTTP/1.1 200 OK\r\n\r\n<html>hello"), none),
                (json_answer("[" * 1000000), none),
                (json_answer('{"mode" : "fine"}'), none),
                (json_answer('{"command" : "mntr", "error" : "Unknown command: mntr"}'),
                 "it says: Unknown command: mntr"),
                (json_answer('{"command" : "mntr", "error" : "\\u001b[2Jnot allowed"}'), "it says: \\x1b[2Jnot allowed"),
                (sends('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"command" : "mo'), none)):
            with self.subTest(why=why):
                self.assert_untold(serve, why)

    def test_a_redirection_is_not_followed(self):
        requests = []
        with web_server(sends(""), requests) as elsewhere:
            self.ask(sends(f"HTTP/1.1 302 Found\r\nLocation: http://{elsewhere.address}/\r\n\r\n"))
            self.assertEqual(requests, [])

    def test_one_that_does_not_answer(self):
        self.assert_untold(lambda connection: connection.stay(),
                           "it accepts connections, but did not answer in time (frozen or overloaded)",
                           patience="10s", limit=40)

    def test_an_answer_without_end(self):
        def drip(connection):
            sends("HTTP/1.1 200 OK\r\n\r\n{")(connection)
            while not readable(connection.link, 0.1):
                connection.send(b" ")
        status, out, err = self.ask(drip, patience="10s", limit=40)
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"its answer was incomplete after the time limit \([0-9]+ bytes\)")

    def test_a_flood(self):
        """It ends at 64 MiB, or in time."""
        def flood(connection):
            sends("HTTP/1.1 200 OK\r\n\r\n")(connection)
            while True:
                connection.send(b" " * 65536)
        status, out, err = self.ask(flood, limit=60)
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, "is longer than 67108864 bytes|was incomplete after the time limit")

    def test_nothing_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        with web_server(sends(REFUSAL)) as server:
            status, out, err, _ = run(server.address, "4lw", *LONG, "mntr", admin=port)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(f"(127.0.0.1:{port}: Connection refused; --admin-server sets its address)", err)
            status, _, err, _ = run(server.address, "4lw", *LONG, "mntr", admin="off")
            self.assertNotIn("AdminServer", err)

    def test_where_it_is_said_to_be(self):
        status, _, err, _ = run("127.0.0.1:1", "4lw", "mntr", admin="a:1,b:2")
        self.assertEqual((status, err),
                         (2, "admin-server: 2 AdminServers for 1 server; give one for each, or only a port\n"))


if __name__ == "__main__":
    unittest.main()
