"""top: rates of servers, clients and nodes, by the counters of servers that are reset, frozen and restarted meanwhile."""
import itertools
import json
import signal
import subprocess
import unittest

from session_case import SessionTest
from server import four_letter_word, server_version
from zksh import ZKSH, environment, run_zksh

EPHEMERAL = 1


class Top(SessionTest):
    def pictures(self, patience="60s"):
        """The objects that it prints, one after the other, until the test ends."""
        self.top = subprocess.Popen([ZKSH, "-s", self.server.address, "-o", "json", "top", "-i", "300ms", "-t", patience],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(self.directory))
        self.addCleanup(self.end, self.top)
        return (json.loads(line) for line in self.top.stdout)

    def until(self, pictures, wanted, work=lambda: None):
        for picture in pictures:
            found = wanted(picture)
            if found:
                return found
            work()
        return self.fail("it ended")

    def own_client(self, picture):
        return next((client for client in picture["clients"] if client["path"] == self.root + "/worker"), None)

    def work(self):
        """Between two pictures, however long it takes."""
        self.top.send_signal(signal.SIGSTOP)
        for _ in range(50):
            self.znodes.get(self.root)
        self.znodes.set(self.root, b"x")
        self.top.send_signal(signal.SIGCONT)

    def test_who_is_busy(self):
        self.znodes.create(self.root + "/worker", b"", EPHEMERAL)
        def is_busy(picture):
            """Shows all of what was done, and nothing else: a look may have met it in the middle."""
            client = self.own_client(picture)
            if not client or client["requestCount"] != 51:
                return None
            nodes = {node["path"]: (node["readCount"], node["writeCount"]) for node in picture["namespaces"] or ()}
            return picture if server_version() < (3, 6) or nodes.get(self.root) == (50, 1) else None
        found = self.until(itertools.islice(self.pictures(), 100), is_busy, self.work)
        client = self.own_client(found)
        self.assertEqual((f"0x{self.session():x}", self.server.address, "SETD"),
                         (client["session"], client["server"].replace("[::1]", "127.0.0.1"), client["lastRequest"]))
        self.assertEqual(client, found["clients"][0])
        self.assertGreater(found["intervalMs"], 200)
        (server,) = found["servers"]
        self.assertGreaterEqual(server["requestCount"], client["requestCount"])
        self.assertEqual(("standalone", None), (server["role"], server["problem"]))
        self.assertGreaterEqual(server["connections"], 1)

    def session(self):
        cons = four_letter_word(self.server.port, "cons")
        port = self.znodes.connection.getsockname()[1]
        line = next(line for line in cons.splitlines() if f":{port}[" in line)
        return int(line.partition("sid=")[2].partition(",")[0], 16)

    def test_counters_that_are_reset(self):
        """By srst and crst, and by a restart: no rate is below 0, or that of all time."""
        pictures = self.pictures()
        next(pictures)
        self.until(pictures, lambda picture: (picture["servers"][0]["requestCount"] or 0) >= 51, self.work)
        before = int(four_letter_word(self.server.port, "mntr").partition("zk_packets_received\t")[2].split()[0])
        for word in ("srst", "crst"):
            four_letter_word(self.server.port, word)
        for picture in (next(pictures), next(pictures)):
            self.assertTrue(0 <= picture["servers"][0]["requestCount"] < before, picture)
        self.server.restart()
        self.connect_znodes()
        self.until(pictures, lambda picture: (picture["servers"][0]["requestCount"] or 0) >= 51, self.work)
        # Nothing is asked any more: a rate of all time would not fall.
        counts = (picture["servers"][0]["requestCount"] for picture in itertools.islice(pictures, 50))
        count = next((count for count in counts if count is not None and count < 51), -1)
        self.assertGreaterEqual(count, 0)

    def test_a_frozen_server(self):
        pictures = self.pictures("300ms")
        self.until(pictures, lambda picture: picture["servers"][0]["problem"] is None)
        self.server.freeze()
        problem = self.until(pictures, lambda picture: picture["servers"][0]["problem"])
        self.assertIn("did not answer in time", problem)
        self.server.thaw()
        self.until(pictures, lambda picture: picture["servers"][0]["requestCount"])

    def test_rows_and_tables(self):
        self.znodes.create(self.root + "/worker", b"", EPHEMERAL)
        done = run_zksh("-s", self.server.address, "-o", "plain", "top", "-n", "2", "-i", "200ms", "-t", "60s")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual(2, sum(row[0] == "server" for row in rows))
        self.assertTrue(all(len(row) == {"server": 8, "client": 7, "node": 4}[row[0]] for row in rows), rows)
        (client, _) = [row for row in rows if row[-1] == self.root + "/worker"]
        self.assertEqual("0.0", client[2])
        done = run_zksh("-s", self.server.address, "top", "-n", "1", "-i", "200ms", "-t", "60s")
        self.assertRegex(done.stdout, r"(?s)^server +role +requests/s +mean ms .*\n\nclient +requests/s +last +session .*")

    def test_words_that_are_not_allowed(self):
        self.server.config["4lw.commands.whitelist"] = "srvr"
        self.addCleanup(self.server.restart)
        self.addCleanup(self.server.config.update, {"4lw.commands.whitelist": "*"})
        self.server.restart()
        done = run_zksh("-s", self.server.address, "--admin-server", "off", "top", "-n", "2", "-i", "200ms", "-t", "60s")
        self.assertEqual(0, done.returncode)
        if server_version() >= (3, 5):
            self.assertRegex(done.stdout, r"(?m)^127[.]0[.]0[.]1:\d+ +standalone +\d+[.]\d +\d+[.]\d+ +\d+ +-$")
            for word in ("mntr", "cons"):
                self.assertEqual(1, done.stderr.count(f"{word} is not in its 4lw.commands.whitelist"))
        done = run_zksh("-s", "127.0.0.1:1", "top", "-n", "1", "-i", "200ms", "-t", "60s")
        self.assertEqual(3, done.returncode)
        self.assertRegex(done.stdout, r"(?m)^127[.]0[.]0[.]1:1 .* Connection refused$")


if __name__ == "__main__":
    unittest.main()
