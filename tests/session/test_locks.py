"""locks: output for programs, of honest and hostile queues, and with servers that report little."""
import json
import os
import subprocess
import unittest
import uuid

from session_case import ZKSH, SessionTest
from server import Server, four_letter_word
from znodes import Znodes

EPHEMERAL_SEQUENTIAL = 3


class LocksTest(SessionTest):
    """/l is the lock; its contenders are nodes of this test's session."""

    def setUp(self):
        super().setUp()
        self.znodes.create(self.root + "/l")

    def join(self, data=b"", name=None, znodes=None):
        name = name or f"_c_{uuid.uuid4()}-lock-"
        return (znodes or self.znodes).create(f"{self.root}/l/{name}", data, EPHEMERAL_SEQUENTIAL)

    def locks(self, *arguments, **how):
        """The objects that `locks -o json` prints."""
        status, out, err = self.run_zksh("locks", "-o", "json", *arguments, **how)
        self.assertEqual((status, err), (0, ""))
        return [json.loads(line) for line in out.splitlines()]

    def queue(self, *arguments, **how):
        (lock,) = self.locks("/l", *arguments, **how)
        return lock


class Json(LocksTest):
    def test_a_queue(self):
        nodes = [os.path.basename(self.join(b"alice")), os.path.basename(self.join(b"bob"))]
        lock = self.queue()
        self.assertEqual((lock["path"], lock["kind"], lock["counter"]), ("/l", "exclusive", 2))
        first, second = lock["contenders"]
        self.assertEqual([first["contenderNodes"], second["contenderNodes"]], [[nodes[0]], [nodes[1]]])
        self.assertEqual((first["owner"], first["state"], first["waitsFor"], first["watchedBy"]),
                         ("alice", "holds", None, [2]))
        self.assertEqual((second["owner"], second["state"], second["waitsFor"], second["watchedBy"]),
                         ("bob", "waits", 1, []))
        self.assertLess(first["token"], second["token"])
        self.assertEqual(first["session"], second["session"])
        self.assertRegex(first["session"], "^0x[0-9a-f]+$")
        self.assertRegex(first["client"], r":\d+$")
        self.assertTrue(first["sessionAlive"])
        self.assertEqual((lock["warnings"], lock["otherNodes"], lock["changes"]), ([], [], None))

    def test_owners_that_are_no_text(self):
        self.join(b"\xff\xfe")
        self.join(b"\x1b[2J\n\0")
        self.join(b"x" * 1_000_000)
        invalid, control, long = self.queue()["contenders"]
        self.assertEqual(invalid["owner"], {"base64": "//4="})
        self.assertEqual(control["owner"], "\x1b[2J\n\0")
        self.assertEqual((len(long["owner"]), long["ownerLength"]), (4096, 1_000_000))

    def test_contenders_of_other_libraries(self):
        self.join(b"one")
        self.join(b"two", f"{uuid.uuid4().hex}__lock__")
        self.znodes.create(self.root + "/l/readme")
        lock = self.queue()
        self.assertEqual([c["state"] for c in lock["contenders"]], ["holds", "mayHold"])
        self.assertEqual(lock["contenders"][1]["library"], "kazoo")
        self.assertEqual(lock["otherNodes"], ["readme"])
        self.assertIn("do not see each other", " ".join(lock["warnings"]))

    def test_measured_watchers(self):
        self.start("lock", "-q", "/l", "--hold")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/l")) == 1)
        self.start("lock", "-q", "/l", "--hold")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/l")) == 2)
        lock = self.queue("--watchers")
        self.assertEqual(lock["watcherSource"], "measured")
        self.assertEqual([c["watchedBy"] for c in lock["contenders"]], [[2], []])

    def test_every_lock_below_a_path(self):
        self.join(b"alice")
        self.znodes.create(self.root + "/app")
        self.znodes.create(self.root + "/app/cfg")
        self.znodes.create(f"{self.root}/app/cfg/_c_{uuid.uuid4()}-__READ__", b"bob", EPHEMERAL_SEQUENTIAL)
        self.znodes.create(self.root + "/app/data", b"no lock")
        found = self.locks("-r", "/")
        self.assertEqual(sorted((lock["path"], lock["kind"]) for lock in found),
                         [("/app/cfg", "read/write"), ("/l", "exclusive")])

    def test_live_is_an_object_for_each_change(self):
        process = self.start("locks", "/l", "-w", "-o", "json")
        self.assertEqual(json.loads(process.stdout.readline())["contenders"], [])
        node = self.join(b"alice")
        lock = json.loads(process.stdout.readline())
        self.assertEqual([c["owner"] for c in lock["contenders"]], ["alice"])
        self.znodes.delete(node)
        lock = json.loads(process.stdout.readline())
        self.assertEqual((lock["contenders"], lock["changes"]["left"]), ([], 1))

    def test_a_server_that_tells_nothing(self):
        with Server({"4lw.commands.whitelist": "srvr"}) as server:
            with Znodes(server.address) as znodes:
                znodes.create("/l")
                znodes.create(f"/l/_c_{uuid.uuid4()}-lock-", b"alice", EPHEMERAL_SEQUENTIAL)
                status, out, err = self.run_zksh("locks", "-o", "json", "--watchers", "/l", server=server.address)
        self.assertEqual(status, 0)
        (holder,) = json.loads(out)["contenders"]
        self.assertEqual((holder["owner"], holder["client"], holder["connected"], holder["sessionAlive"]),
                         ("alice", None, None, None))
        self.assertIn("does not allow the word wchp", err)


class ForPeople(LocksTest):
    def test_its_output_may_end_early(self):
        for number in range(300):
            self.join(b"owner %d" % number)
        result = subprocess.run(["bash", "-c", f"set -o pipefail; {ZKSH} -s {self.connect} locks /l | head -1"],
                                capture_output=True, timeout=60, check=False)
        self.assertIn(b"300 contenders", result.stdout)
        self.assertEqual(result.stderr, b"")


class Cost(LocksTest):
    def packets(self, *arguments):
        """That the server takes in while this runs: with a session's beginning and end."""
        def received():
            lines = four_letter_word(self.server.port, "mntr").splitlines()
            return int(dict(line.split("\t", 1) for line in lines)["zk_packets_received"])
        before = received()
        self.assertEqual(self.run_zksh(*arguments)[0], 0)
        return received() - before

    def test_a_free_lock_costs_three_requests(self):
        # A lock that is held for longer, as on a busy machine, is looked at meanwhile.
        one = min(self.packets("ls", "/") for _ in range(5))
        for lock in (("lock", "/l"), ("wlock", "/l"), ("lock", "--compat", "all", "/l"),
                     ("lock", "--recipe", "exclusive", "/l")):
            with self.subTest(lock):
                self.assertEqual(min(self.packets(*lock, "--", "true") for _ in range(5)) - one, 2)

    def test_the_token_is_the_nodes_czxid_whatever_is_written_meanwhile(self):
        writers = self.start("contend", "/busy", "-n", "50", "--rounds", "100000", "--hold", "0")
        self.wait_until(lambda: self.znodes.exists(self.root + "/busy"))
        for lock in ("lock", "lock --compat all", "wlock"):
            script = f"{lock} /l -v\nlocks -o json /l\nlocks -o json\nunlock /l\n" * 50
            status, out, err = self.run_zksh(text=script.encode())
            self.assertEqual(status, 0, err)
            told = [json.loads(line) for line in out.splitlines()]
            self.assertEqual(len(told), 100)
            for queue, own in zip(told[::2], told[1::2]):
                self.assertEqual([own["token"]], [seat["token"] for seat in queue["contenders"]])
            self.assertNotIn("exists _c_", err)  # nobody asked for it
            self.assertNotIn("exists /l/_c_", err)
        self.assertIsNone(writers.poll())


if __name__ == "__main__":
    unittest.main()
