"""locks: output for programs, of honest and hostile queues, and with servers that report little."""
import json
import os
import subprocess
import unittest
import uuid

from session_case import ZKSH, SessionTest
from ensemble import Ensemble
from server import Server, four_letter_word
from waiting import wait_until
from znodes import Znodes

LASTING = {"maxSessionTimeout": "600000"}  # sessions that ask nothing for a while stay

EPHEMERAL_SEQUENTIAL = 3


class LocksTest(SessionTest):
    """/l is the lock; its contenders are nodes of this test's session."""

    def setUp(self):
        super().setUp()
        self.znodes.create(self.root + "/l")

    def join(self, data=b"", name=None, znodes=None, watch=None):
        """The path of a new contender, whose session watches the node `watch`."""
        name = name or f"_c_{uuid.uuid4()}-lock-"
        node = (znodes or self.znodes).create(f"{self.root}/l/{name}", data, EPHEMERAL_SEQUENTIAL)
        if watch:
            (znodes or self.znodes).exists(watch, watch=True)
        return node

    def locks(self, *arguments, **how):
        """The objects that `locks -o json` prints."""
        return [json.loads(line) for line in self.run_whole("locks", "-o", "json", *arguments, **how).splitlines()]

    def queue(self, *arguments, **how):
        (lock,) = self.locks("/l", *arguments, **how)
        return lock


class Json(LocksTest):
    def test_a_queue(self):
        alice = self.join(b"alice")
        nodes = [os.path.basename(node) for node in (alice, self.join(b"bob", watch=alice))]
        lock = self.queue()
        self.assertEqual((lock["path"], lock["kind"], lock["counter"]), ("/l", "exclusive", 2))
        first, second = lock["contenders"]
        self.assertEqual([first["contenderNodes"], second["contenderNodes"]], [[nodes[0]], [nodes[1]]])
        self.assertEqual((first["owner"], first["state"], first["waitsFor"], first["watchedBy"]),
                         ("alice", "holds", None, [2]))
        self.assertEqual((second["owner"], second["state"], second["waitsFor"], second["watchedBy"]),
                         ("bob", "waits", 1, []))
        self.assertLess(int(first["token"], 16), int(second["token"], 16))
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

        def watched():
            lock = self.queue("--watchers")
            self.assertEqual(lock["watcherSource"], "measured")
            return [c["watchedBy"] for c in lock["contenders"]]
        self.wait_until(lambda: watched() == [[2], []])  # the second one sets its watch when it has read the queue

    def test_a_herd_is_one(self):
        """Its contenders watch the list: the servers are asked without --watchers, too."""
        self.start("contend", "/l", "-n", "4", "--recipe", "herd", "--hold", "60s")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/l")) == 4)
        lock = self.queue()
        self.assertEqual(lock["watcherSource"], "measured")
        self.assertEqual([c["watchedBy"] for c in lock["contenders"]], [[]] * 4)
        self.assertEqual([c["waitsFor"] for c in lock["contenders"]], [None, 1, 2, 3], "by the recipe")
        out = self.run_whole("locks", "/l")
        self.assertIn("#1 ◄ {#2 #3 #4}\nlist?: watches no contender's node", out)
        self.assertRegex(out, r"(?m)^2 .* list\?   -$")
        self.assertNotIn("should watch it", out)

    def test_contenders_by_hand_that_watch_nothing(self):
        for line in ("create -e -s /l/x-; " * 3 + "locks /l", "create -e -s /l/x-; " * 3 + "ls -w /l; locks /l"):
            said = []

            def are_seen(line=line, said=said):
                said[:] = self.run_zksh("-c", line)
                self.assertEqual(said[0], 0)
                return "#1 ◄ {#2 #3}\n" in said[1]
            wait_until(are_seen, 300, lambda said=said: said)  # the server may be too late to say who watches

    def test_servers_with_many_watches_are_not_asked_who_watches(self):
        with Server(LASTING) as server, Znodes(server.address) as znodes:
            znodes.create("/l")
            for _ in range(2):
                znodes.create(f"/l/_c_{uuid.uuid4()}-lock-", b"", EPHEMERAL_SEQUENTIAL)

            def source(*options):
                process = self.start("locks", "-o", "json", "/l", *options, server=server.address)
                line = process.stdout.readline()
                self.end(process)  # its watches count, too
                return json.loads(line)["watcherSource"]

            def watch_until(count):
                while self.watched < count:
                    znodes.exists(f"/missing/{self.watched}", watch=True)
                    self.watched += 1
            self.watched = 0
            for limit, options in ((1_000, ["-w"]), (10_000, [])):
                watch_until(limit - 20)  # the viewer has some of its own
                # A server may take too long to list them on a busy machine.
                self.wait_until(lambda words=options: source(*words) == "measured")
                watch_until(limit + 10)
                self.assertEqual(source(*options), "inferred", limit)
            self.wait_until(lambda: source("--watchers") == "measured")

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
        with Server({"4lw.commands.whitelist": "srvr", **LASTING}) as server:
            with Znodes(server.address) as znodes:
                znodes.create("/l")
                znodes.create(f"/l/_c_{uuid.uuid4()}-lock-", b"alice", EPHEMERAL_SEQUENTIAL)
                said = []

                def refused():
                    said[:] = self.run_zksh("locks", "-o", "json", "--watchers", "/l", server=server.address)
                    return "does not allow the word wchp" in said[2]
                wait_until(refused, 300, lambda: said)  # the server may be too late for that
        status, out, _ = said
        self.assertEqual(status, 0)
        (holder,) = json.loads(out)["contenders"]
        self.assertEqual((holder["owner"], holder["client"], holder["connected"], holder["sessionAlive"]),
                         ("alice", None, None, None))

    def test_a_member_that_is_not_asked(self):
        """Each member knows only its own sessions' watches."""
        with Ensemble(config=LASTING) as ensemble:
            addresses = [member.address for member in ensemble.servers]
            with Znodes(addresses[0]) as first, Znodes(addresses[1]) as second:
                first.create("/l")
                nodes = []
                for znodes in (first, second, first):
                    nodes.append(znodes.create(f"/l/_c_{uuid.uuid4()}-lock-", b"", EPHEMERAL_SEQUENTIAL))
                second.exists(nodes[0], watch=True)

                def rows(server):
                    out = self.run_whole("locks", "/l", server=server)
                    return [line.split()[-2:] for line in out.splitlines() if line[:1].isdigit()]
                whole = ",".join(addresses)
                self.wait_until(lambda: rows(whole) == [["-", "#2"], ["#1", "-"], ["list?", "-"]])
                self.assertEqual(rows(addresses[0]), [["-", "-"], ["#1?", "-"], ["list?", "-"]])


class ForPeople(LocksTest):
    def test_its_output_may_end_early(self):
        for number in range(300):
            self.join(b"owner %d" % number)
        said = []

        def is_silent():
            result = subprocess.run(["bash", "-c", f"set -o pipefail; {ZKSH} -s {self.connect} locks /l | head -1"],
                                    capture_output=True, timeout=60, check=False)
            self.assertIn(b"300 contenders", result.stdout)
            said[:] = [result.stderr]
            return not result.stderr
        wait_until(is_silent, 300, lambda: said)  # a server that is late is spoken of


class Cost(LocksTest):
    def packets(self, *arguments):
        """That the server takes in while this runs: with a session's beginning and end."""
        def received():
            lines = four_letter_word(self.server.port, "mntr").splitlines()
            return int(dict(line.split("\t", 1) for line in lines)["zk_packets_received"])
        before = received()
        # With such a timeout the session sends nothing by itself, even if a busy machine takes seconds.
        self.assertEqual(self.run_zksh("-t", "300000", *arguments)[0], 0)
        return received() - before

    def test_a_free_lock_costs_three_requests(self):
        one = min(self.packets("ls", "/") for _ in range(5))
        for lock in (("lock", "/l"), ("wlock", "/l"), ("lock", "--compat", "all", "/l"),
                     ("lock", "--recipe", "exclusive", "/l")):
            with self.subTest(lock):
                self.wait_until(lambda words=(*lock, "--", "true"): self.packets(*words) == one + 2)

    def test_the_token_is_the_nodes_czxid_whatever_is_written_meanwhile(self):
        writers = self.start("contend", "/busy", "-n", "50", "--rounds", "100000", "--hold", "0")
        self.wait_until(lambda: self.znodes.exists(self.root + "/busy"))
        for lock in ("lock", "lock --compat all", "wlock"):
            script = f"{lock} /l -v\nlocks -o json /l\nlocks -o json\nunlock /l\n" * 50
            # With a shorter timeout it leaves a server that is late on a busy machine.
            status, out, err = self.run_zksh("-t", "300000", text=script.encode(), timeout=600)
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
