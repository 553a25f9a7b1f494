"""The commands about servers, on an ensemble whose members are killed and frozen."""
import json
import socket
import subprocess
import time
import unittest

from session_case import ZKSH
from ensemble import Ensemble
from server import needs
from waiting import wait_until
from zksh import run_zksh
from znodes import Znodes

FROZEN = "it accepts connections, but did not answer in time (frozen or overloaded)"


class EnsembleTest(unittest.TestCase):
    """Three servers for the class; every test leaves all of them serving."""

    @classmethod
    def setUpClass(cls):
        cls.ensemble = Ensemble(3, {"maxSessionTimeout": "600000"})
        for member in cls.ensemble.servers:  # so that each knows where clients find the others
            for other in cls.ensemble.servers:
                member.config[f"server.{other.number}"] += f";{other.address}"
        cls.ensemble.__enter__()
        cls.addClassCleanup(cls.ensemble.remove)
        cls.servers = cls.ensemble.servers

    def tearDown(self):
        for server in self.servers:
            if server.process is None:
                server._spawn()
            server.thaw()
        for server in self.servers:
            server.wait_mode("leader", "follower")
        wait_until(lambda: self.zksh("health")[0] == 0, 120)

    def zksh(self, *words, server=None):
        """Status, stdout and stderr."""
        done = run_zksh("-s", server or self.ensemble.connect_string, *words)
        return done.returncode, done.stdout, done.stderr

    def health(self, patience="20s", **how):
        status, out, err = self.zksh("health", "-t", patience, "-o", "json", **how)
        self.assertEqual(err, "")
        found = json.loads(out)
        self.assertEqual(found["status"], status)
        return found

    def leader(self):
        return next(server for server in self.servers if server.mode() == "leader")

    def followers(self):
        return [server for server in self.servers if server.mode() == "follower"]


@needs(3, 5)  # the members' addresses for clients
class Healthy(EnsembleTest):
    def test_all_is_well(self):
        found = self.health()
        self.assertEqual((found["verdict"], found["leader"]), ("healthy", self.leader().address))
        self.assertEqual((found["serving"], found["voters"], found["quorum"]), (3, 3, 2))
        self.assertEqual(sorted(member["role"] for member in found["members"]),
                         ["follower", "follower", "leader"])
        self.assertEqual([member["serverId"] for member in found["members"]], [1, 2, 3])

    def test_a_killed_follower(self):
        victim = self.followers()[0]
        victim.kill()
        found = self.health()
        self.assertEqual((found["verdict"], found["status"]), ("degraded", 1))
        self.assertIn(f"{victim.address}: Connection refused", found["problems"])
        wait_until(lambda: self.health()["syncedFollowers"] == 1)
        self.assertIn("1 of 2 followers is in sync with the leader", self.health()["problems"])

    def test_a_frozen_follower_costs_two_seconds(self):
        victim = self.followers()[0]
        victim.freeze()
        told = []

        def others_answer():
            """In these two seconds, which may be too short for a busy machine."""
            begin = time.monotonic()
            status, out, _ = self.zksh("health")
            told[:] = status, out, time.monotonic() - begin
            return status == 1
        wait_until(others_answer, 120, lambda: told)
        _, out, took = told
        self.assertIn(f"- {victim.address}: {FROZEN}\n", out)
        self.assertGreater(took, 1.9)
        self.assertLess(took, 10)  # the machine may be busy
        status, out, err = self.zksh("4lw", "-t", "6s", "ruok")
        self.assertEqual((status, out.count("imok")), (1, 2))
        self.assertEqual(err, f"{victim.address}: {FROZEN}\n")

    def test_two_killed(self):
        for victim in self.followers():
            victim.kill()
        status, out, _ = self.zksh("health", "-t", "20s")
        self.assertEqual(status, 3)
        self.assertRegex(out, r"\nno quorum: [01] voting members? serves?, but 2 must\n")
        for server in self.servers:
            server.kill()
        status, out, _ = self.zksh("health")
        self.assertEqual(status, 3)
        self.assertIn("\nno quorum: no server answers\n", out)
        status, out, _ = self.zksh("4lw", "ruok")
        self.assertEqual((status, out), (3, ""))

    def test_a_frozen_leader(self):
        victim = self.leader()
        victim.freeze()
        found = self.health("6s")
        self.assertEqual((found["verdict"], found["summary"]), ("no quorum", "no leader answers"))

        others = [server.address for server in self.servers if server is not victim]

        def another_leads():
            found = self.health("6s")
            return found["status"] == 1 and found["leader"] in others
        wait_until(another_leads, 120)


@needs(3, 5)
class Sessions(EnsembleTest):
    def test_clients_of_different_servers(self):
        """Each server knows only its own clients; together they know all."""
        one, two = self.servers[0], self.servers[1]
        with Znodes(one.address) as first, Znodes(two.address) as second:
            first.create("/mine", b"", 1)
            wait_until(lambda: second.exists("/mine"))  # a member may come to know it late
            second.exists("/mine", True)
            status, out, err = self.zksh("who", "-o", "json", "/mine")
            self.assertEqual((status, err), (0, ""))
            found = json.loads(out)
            self.assertEqual(found["kind"], "ephemeral")
            self.assertEqual(found["ownerSession"]["server"], one.address)
            self.assertEqual(found["ownerSession"]["ephemerals"], ["/mine"])
            self.assertEqual(len(found["watchers"]), 1)
            watcher = found["watchers"][0]["session"]
            # From one server of the ensemble the others are found.
            status, out, _ = self.zksh("who", "-o", "json", watcher, server=self.servers[2].address)
            self.assertEqual(status, 0)
            found = json.loads(out)
            self.assertEqual((found["server"], found["watches"]), (two.address, ["/mine"]))
            status, out, _ = self.zksh("wchc", "-o", "json", server=self.servers[2].address)
            self.assertEqual(status, 0)
            self.assertEqual(json.loads(out)["session"], watcher)
            self.ask_with_a_frozen_server(two, watcher)

    def test_latency_without_the_frozen_one(self):
        frozen = self.followers()[0]
        frozen.freeze()
        status, out, err = self.zksh("latency", "-n", "3", "-t", "6s", "-o", "json")
        self.assertEqual((status, err), (1, ""))
        found = {member["server"]: member for member in map(json.loads, out.splitlines())}
        self.assertEqual(found[frozen.address]["error"], FROZEN)
        others = [member for name, member in found.items() if name != frozen.address]
        for member in others:
            self.assertEqual([request["count"] for request in member["requests"]], [3, 3])

    def ask_with_a_frozen_server(self, frozen, watcher):
        frozen.freeze()
        status, out, err = self.zksh("who", "-t", "6s", watcher)
        self.assertEqual((status, err), (1, f"{frozen.address}: {FROZEN}\n"))
        self.assertIn("client: not connected to any server that answered\n", out)
        frozen.thaw()


@needs(3, 5)
class Moving(EnsembleTest):
    def test_a_server_that_says_nothing_is_left_for_another(self):
        """One that is frozen, or was reached while it started, accepts; a host that is off does not."""
        accepts = socket.create_server(("127.0.0.1", 0))
        full = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(accepts.close)
        self.addCleanup(full.close)
        for _ in range(3):  # then further ones are not answered at all
            client = socket.socket()
            self.addCleanup(client.close)
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        for silent in (accepts, full):
            # In a random order: each is the first now and then.
            for _ in range(4):
                servers = f"127.0.0.1:{silent.getsockname()[1]},{self.servers[0].address}"
                self.assertEqual((0, "[zookeeper]\n", ""), self.zksh("--connect-timeout", "40s", "ls", "/", server=servers))

    def test_a_session_of_two_servers_goes_from_one_to_the_other_and_back(self):
        followers = self.followers()
        shell = subprocess.Popen([ZKSH, "-s", ",".join(server.address for server in followers), "--keep-going",
                                  "--connect-timeout", "120s"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(shell.communicate)
        self.addCleanup(shell.kill)
        self.ask_again_until(shell, "create -e /moved here\n", "Created /moved")
        for server in [*followers, *followers]:
            server.kill()
            self.ask_again_until(shell, "get /moved\n", "here")
            server.start()
            server.wait_mode("follower", "leader")

    def ask_again_until(self, shell, line, expected):
        """What is on its way while a server dies is lost."""
        until = time.monotonic() + 150
        said = "KeeperErrorCode"
        while said != expected + "\n":
            if said.startswith("KeeperErrorCode"):
                shell.stdin.write(line)
                shell.stdin.flush()
            self.assertLess(time.monotonic(), until, said)
            said = shell.stdout.readline()


if __name__ == "__main__":
    unittest.main()
