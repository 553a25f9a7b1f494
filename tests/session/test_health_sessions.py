"""health: a server that answers words and opens no session is not well, whatever it says of itself."""
import json
import os
import signal
import unittest

import session_case  # noqa: F401  finds what the tests share
from ensemble import Ensemble
from server import Server
from waiting import wait_until
from zksh import run_zksh

HUNG = "it answers srvr, but opens no session within 1s"


def health(server, *words):
    done = run_zksh("-s", server, "--admin-server", "off", "health", *words)
    assert done.stderr == "", done
    return done.returncode, done.stdout


def health_of_hung(server, *words):
    """Once its words were answered in time, as they may not be on a busy machine."""
    told = []

    def is_told():
        told.append(health(server, *words))
        return HUNG in told[-1][1]
    wait_until(is_told, 120, said=lambda: told[-1])
    return told[-1]


class Sessions(unittest.TestCase):
    def test_a_leader_without_anybody_who_acknowledges(self):
        """It leads on, and answers all words, until it notices that its followers are silent, which takes minutes here."""
        with Ensemble(3, config={"syncLimit": "1000"}) as ensemble:
            wait_until(lambda: health(ensemble.connect_string)[0] == 0, 120)
            self.assertRegex(health(ensemble.connect_string, "-t", "30s")[1],
                             r"\nhealthy: 3 of 3 members serve, .* leads, .*; each opens sessions\n$")
            leader = next(server for server in ensemble.servers if server.mode() == "leader")
            followers = [server for server in ensemble.servers if server is not leader]
            for server in followers:
                os.kill(server.process.pid, signal.SIGSTOP)
            try:
                status, out = health_of_hung(leader.address)
                self.assertEqual(3, status, out)
                self.assertIn("\nno quorum: ", out)
                self.assertRegex(out, rf"\n- {leader.address}: {HUNG}(; \d+ requests? waits?)?\n")
                found = json.loads(health_of_hung(leader.address, "-o", "json", "-t", "1s")[1])
                member = next(each for each in found["members"] if each["server"] == leader.address)
                self.assertEqual((False, False, "leader"), (member["opensSession"], member["serves"], member["role"]))
                deep = json.loads(health_of_hung(leader.address, "--deep", "-o", "json", "-t", "1s")[1])
                self.assertEqual(("sessions", leader.address), (deep["findings"][0]["check"], deep["findings"][0]["server"]))
            finally:
                for server in followers:
                    os.kill(server.process.pid, signal.SIGCONT)
            wait_until(lambda: health(ensemble.connect_string)[0] == 0, 120)

    def test_a_refused_identity_says_nothing_of_the_server(self):
        with Server() as server:
            status, out = health(server.address, "-t", "30s")
            self.assertEqual((0, True), (status, out.endswith("serving; it opens sessions\n")), out)
            done = run_zksh("-s", server.address, "--sasl-user", "nobody", "--sasl-password-file", "/etc/hostname",
                            "health", "-t", "30s", "-o", "json")
            found = json.loads(done.stdout)
            self.assertIn(found["members"][0]["opensSession"], (None, True), found)
            self.assertEqual("healthy", found["verdict"])


if __name__ == "__main__":
    unittest.main()
