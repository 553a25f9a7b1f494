"""health --deep: no findings on a fresh server of any version, and each check provoked on real servers with small limits.

Only unrecoverable errors and digests that the servers themselves found wrong are played: a real server ends with the first,
and the second takes a fault of ZooKeeper.
"""
import json
import os
import re
import resource
import shutil
import struct
import unittest
import unittest.mock
import zlib

from session_case import fetched
from broken_server import BrokenServer
from ensemble import Ensemble
from server import Server, four_letter_word, free_port, needs
from waiting import wait_until
from znodes import OPEN_ACL, Znodes, ZnodeError, pack_string
from zksh import run_zksh

SERVLET_API = "/usr/share/java/servlet-api.jar"
CHECKS = {"sessions", "digests", "errors", "large requests", "refused connections", "clients", "descriptors", "logs", "secrets",
          "children", "values", "counters", "quotas"}
VERSIONS = [version for version in (os.environ.get("ZKSH_TEST_SERVERS") or "3.4.13 3.8.0 3.9.3").split()
            if "/" not in version]


def deep(server, *words, admin="off", time="20s"):
    done = run_zksh("-s", server, "--admin-server", str(admin), "health", "--deep", "-t", time, "-o", "json", *words)
    found = json.loads(done.stdout)
    assert done.stderr == "" and found["status"] == done.returncode, done
    return found


class VersionServer(Server):
    """Of a release; its AdminServer listens, if that has one."""

    def __init__(self, version, admin, config=None, flags=()):
        super().__init__({"admin.enableServer": "true", "admin.serverAddress": "127.0.0.1", "admin.serverPort": str(admin),
                          **(config or {})}, jvm_flags=flags, jars=[SERVLET_API])
        self.home = fetched(version)

    def _spawn(self):
        with unittest.mock.patch.dict(os.environ, {"ZOOKEEPER_HOME": self.home}):
            super()._spawn()


def checks_of(found):
    return {finding["check"]: finding for finding in found["findings"]}


def set_counter(log, path, count):
    """Writes the counter of the node's parent into the log's record of its creation."""
    with open(log, "rb") as file:
        data = bytearray(file.read())
    place = 16  # after the magic number, the version and the database's number
    while (size := struct.unpack_from(">qi", data, place)[1]) > 0:
        record = place + 12
        found = data.find(pack_string(path), record, record + size)
        if found >= 0:
            value = found + 4 + len(path)
            counter = value + 4 + struct.unpack_from(">i", data, value)[0] + len(OPEN_ACL) - 4 + 4 + 1
            struct.pack_into(">i", data, counter, count)
            struct.pack_into(">q", data, place, zlib.adler32(data[record:record + size]))
        place = record + size + 1
    with open(log, "wb") as file:
        file.write(data)


class Fresh(unittest.TestCase):
    """What a fresh server cannot be asked is listed, and is no finding."""

    def test_without_an_admin_server(self):
        expected = {"3.4": {"errors", "large requests", "refused connections", "logs"}}
        for version in VERSIONS:
            with self.subTest(version=version), VersionServer(version, free_port()) as server:
                found = deep(server.address)
                self.assertEqual((found["verdict"], found["findings"]), ("healthy", []))
                unchecked = {each["check"] for each in found["unchecked"]}
                self.assertEqual(expected.get(version[:3], {"secrets"}), unchecked)
                self.assertEqual(CHECKS - unchecked, set(found["passed"]))
                self.assertIn("jute.maxbuffer is not known", found["notes"][0])

    def test_with_one(self):
        for version in VERSIONS:
            if version.startswith("3.4"):
                continue
            admin = free_port()
            with self.subTest(version=version), VersionServer(version, admin) as server:
                for config in ("*", "srvr"):  # then the AdminServer answers all words but one
                    server.config["4lw.commands.whitelist"] = config
                    server.restart()
                    found = deep(server.address, admin=admin)
                    self.assertEqual((found["verdict"], found["findings"], found["unchecked"], found["notes"]),
                                     ("healthy", [], [], []))
                    self.assertEqual(CHECKS, set(found["passed"]))


    def test_what_a_log_takes_ahead_of_its_transactions_does_not_count(self):
        admin = free_port()
        with VersionServer(VERSIONS[-1], admin, flags=["-Dzookeeper.preAllocSize=2097152"]) as server:
            with Znodes(server.address) as znodes:
                znodes.create("/x")
            self.assertGreater(os.path.getsize(os.path.join(server.directory, "data", "version-2", "log.1")), 2 << 30)
            self.assertEqual([], deep(server.address, admin=admin)["findings"])


class Trouble:
    """One server in which nearly all is wrong; a class for each version is made of it below."""
    version = None

    @classmethod
    def setUpClass(cls):
        cls.admin = free_port()
        flags = ["-Djute.maxbuffer=10000", "-Dzookeeper.largeRequestThreshold=5000", "-Dzookeeper.largeRequestMaxBytes=8000",
                 "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:unspeakable"]
        cls.server = VersionServer(cls.version, cls.admin,
                                   {"maxClientCnxns": "20", "maxSessionTimeout": "600000",
                                    "ssl.keyStore.password": "unspeakable"}, flags).start()
        cls.addClassCleanup(cls.server.remove)
        with Znodes(cls.server.address) as znodes:
            znodes.create("/counter")
            znodes.create("/counter/x")
        cls.server.kill()
        logs = os.path.join(cls.server.directory, "data", "version-2")
        set_counter(os.path.join(logs, "log.1"), "/counter/x", 1_700_000_000)
        cls.server.start()
        with open(os.path.join(logs, "log.fffffff0"), "wb") as log:  # servers read logs when they start
            log.truncate(3 << 30)
        cls.sessions = [Znodes(cls.server.address) for _ in range(20)]
        for session in cls.sessions:
            cls.addClassCleanup(session.connection.close)
        with cls.assertRaises(cls(), ConnectionError):
            Znodes(cls.server.address)
        with cls.assertRaises(cls(), (ConnectionError, ZnodeError)):
            cls.sessions[0].create("/large", b"x" * 9000)
        for session in cls.sessions[:4]:
            session.connection.close()
        znodes = cls.sessions[5]
        znodes.create("/value", b"x" * 6000)
        znodes.create("/list")
        for number in range(60):
            znodes.create(f"/list/{'x' * 100}{number}")
        cls.await_connections()
        run_zksh("-s", cls.server.address, "-c", "create /q; setquota -n 10 /q; fill /q/n -n 7; setquota -b 100 /list")
        cls.await_connections()
        figures = four_letter_word(cls.server.port, "mntr")
        limit = int(re.search(r"zk_open_file_descriptor_count\t(\d+)", figures)[1]) + 8
        resource.prlimit(cls.server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))

    @classmethod
    def await_connections(cls):
        """Until there are only the 16 that stay: those of a zksh that has ended may outlast it."""
        wait_until(lambda: four_letter_word(cls.server.port, "cons").count("sid=") == 16)

    def test_each_is_found(self):
        self.await_connections()
        found = deep(self.server.address, admin=self.admin)
        findings = checks_of(found)
        self.assertEqual(("degraded", 1), (found["verdict"], found["status"]))
        self.assertEqual(CHECKS - {"sessions", "digests", "errors"}, set(findings))
        self.assertEqual((["sessions", "digests", "errors"], []), (found["passed"], found["unchecked"]))
        for finding in found["findings"]:
            self.assertTrue(finding["remedy"].endswith("."), finding)
            self.assertTrue(finding["server"] == self.server.address if finding["path"] is None else
                            finding["server"] is None, finding)
        clients = findings["clients"]
        self.assertEqual(("127.0.0.1 has 16 of the 20 connections that maxClientCnxns allows a host", 16, 20, 16),
                         (clients["problem"], clients["measured"], clients["limit"], len(clients["sessions"])))
        self.assertGreaterEqual(findings["refused connections"]["measured"], 1)
        self.assertEqual(1, findings["large requests"]["measured"])
        self.assertGreater(findings["descriptors"]["measured"], findings["descriptors"]["limit"] * .8)
        self.assertRegex(findings["logs"]["problem"],
                         r"^3[.]\d GiB in the directory of its logs, for .* of data, and old ones are not purged$")
        self.assertEqual(2, findings["secrets"]["measured"])
        for secret in ("ssl.keyStore.password", "zookeeper.DigestAuthenticationProvider.superDigest"):
            self.assertIn(secret, findings["secrets"]["problem"])
        self.assertNotIn("unspeakable", json.dumps(found))
        self.assertEqual(("/list", "/value", 6000, 10000), (findings["children"]["path"], findings["values"]["path"],
                                                           findings["values"]["measured"], findings["values"]["limit"]))
        self.assertEqual(("/counter", 3_399_999_999), (findings["counters"]["path"], findings["counters"]["measured"]))
        self.assertIn("the number 1700000000", findings["counters"]["problem"])
        self.assertEqual([("/q", 9, 10)], [(each["path"], each["measured"], each["limit"]) for each in found["findings"]
                                           if each["check"] == "quotas"])

    def test_text_names_figure_and_remedy(self):
        self.await_connections()
        words = ["-s", self.server.address, "--admin-server", str(self.admin), "health", "--deep", "-t", "20s"]
        done = run_zksh(*words, "--no-tree")
        self.assertEqual(1, done.returncode)
        self.assertRegex(done.stdout, r"(?m)^- \S+: 127[.]0[.]0[.]1 has 16 of the 20 connections .*: "
                                      r"0x\w+, 0x\w+, 0x\w+ and 13 more\n  Close sessions there ")
        self.assertIn("\nnot checked: children, values, counters: left out (--no-tree)\n", done.stdout)
        self.assertIn("\nchecked, and well: sessions, digests, errors\n", done.stdout)
        plain = run_zksh(*words, "-o", "plain")
        self.assertIn("finding\tvalues\t-\t/value\tits value takes 6000 bytes of the 10000 that jute.maxbuffer allows\t6000\t10000\t", plain.stdout)
        self.assertTrue(plain.stdout.splitlines()[-1].startswith("degraded\t"))

    def test_a_chroot_hides_no_node(self):
        found = checks_of(deep(self.server.address + "/counter", admin=self.admin))
        self.assertEqual("/value", found["values"]["path"])

    def test_a_purged_log_is_none(self):
        admin = free_port()
        with VersionServer(self.version, admin, {"autopurge.purgeInterval": " 24"}) as server:
            with open(os.path.join(server.directory, "data", "version-2", "log.fffffff0"), "wb") as log:
                log.truncate(3 << 30)
            self.assertEqual([], deep(server.address, admin=admin)["findings"])
            # Whether it is purged nobody says then.
            (unchecked,) = [each for each in deep(server.address)["unchecked"] if each["check"] == "logs"]
            self.assertIn("3.0 GiB", unchecked["reason"])


for named in VERSIONS:
    if not named.startswith("3.4"):
        name = "Trouble" + re.sub(r"\W+", "_", named)
        globals()[name] = type(name, (Trouble, unittest.TestCase), {"version": named})


@needs(3, 6)
class Digests(unittest.TestCase):
    def test_trees_that_differ(self):
        """A member gets the log of another ensemble, as long as that of its own."""
        # The session that creates the nodes outlasts any pause of a busy machine.
        with Ensemble(3, {"maxSessionTimeout": "600000"}) as ensemble:
            first = ensemble.servers[0]
            path = os.path.join(first.directory, "data", "version-2")
            logs = []
            for letter in "ab":
                leader = next(server for server in ensemble.servers if server.mode() == "leader")
                znodes = Znodes(leader.address)
                for number in range(300):
                    znodes.create(f"/{letter}{number}")
                wait_until(lambda: four_letter_word(first.port, "hash").count(":") >= 2)
                if letter == "a":
                    self.assertEqual([], deep(ensemble.connect_string)["findings"])
                for server in ensemble.servers:
                    server.kill()
                znodes.connection.close()
                (log,) = [name for name in os.listdir(path) if name.startswith("log.")]
                with open(os.path.join(path, log), "rb") as file:
                    logs.append(file.read())
                if letter == "a":
                    for server in ensemble.servers:
                        shutil.rmtree(os.path.join(server.directory, "data", "version-2"))
                else:
                    with open(os.path.join(path, log), "wb") as file:
                        file.write(logs[0])
                self.restart(ensemble)
            found = []

            def differ():
                found[:] = [each for each in deep(ensemble.connect_string)["findings"] if each["limit"] == 1]
                return found
            wait_until(differ)
            (finding,) = found
            self.assertRegex(finding["problem"], r"^the trees of the members differ: at zxid 0x\w+ the digest is ")
            self.assertIn(f" at {first.address}", finding["problem"])
            self.assertEqual(2, finding["measured"])

    @staticmethod
    def restart(ensemble):
        for server in ensemble.servers:
            server._spawn()
        for server in ensemble.servers:
            server.wait_mode("leader", "follower")


SRVR = "Zookeeper version: 3.8.0-x, built on y\nZxid: 0x5\nMode: leader\nNode count: 5\n"
CALM = {"zk_digest_mismatches_count": 0, "zk_unrecoverable_error_count": 0, "zk_large_requests_rejected": 0,
        "zk_connection_rejected": 0, "zk_open_file_descriptor_count": 5, "zk_max_file_descriptor_count": 100,
        "zk_approximate_data_size": 100}


def played(figures):
    answers = {b"srvr": SRVR, b"conf": "clientPort=1\nmaxClientCnxns=0\n", b"cons": "\n", b"dirs": "logdir_size: 0\n",
               b"hash": "80: 5\n", b"mntr": "".join(f"{key}\t{value}\n" for key, value in {**CALM, **figures}.items())}
    return BrokenServer(lambda connection: connection.send(answers.get(connection.read(4), "").encode()))


class Played(unittest.TestCase):
    """By a server that the test plays, which gives no session, as is found first. It is named, so that its nodes are not wanted."""

    def test_counters(self):
        for key, check in (("zk_unrecoverable_error_count", "errors"), ("zk_digest_mismatches_count", "digests")):
            with self.subTest(check=check), played({key: 2}) as server:
                sessions, finding = deep(server.address, server.address, time="10s")["findings"]
                self.assertEqual("sessions", sessions["check"])
                self.assertEqual((check, 2, server.address), (finding["check"], finding["measured"], finding["server"]))
                self.assertIn("(2 since its start)", finding["problem"])
        with played({}) as server:
            found = deep(server.address, server.address, time="10s")
            self.assertEqual(("no quorum", ["sessions"]), (found["verdict"], list(checks_of(found))))
            self.assertEqual({"secrets", "children", "values", "counters", "quotas"},
                             {each["check"] for each in found["unchecked"]})

    def test_figures_that_are_none(self):
        with played({"zk_unrecoverable_error_count": "x", "zk_open_file_descriptor_count": ""}) as server:
            found = deep(server.address, server.address, time="10s")
            self.assertEqual(["sessions"], list(checks_of(found)))
            self.assertLess({"errors", "descriptors"}, {each["check"] for each in found["unchecked"]})


if __name__ == "__main__":
    unittest.main()
