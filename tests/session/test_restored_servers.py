"""Servers that were wiped, or restored from a backup: a session that has seen more is replaced, whatever waits in it."""
import os
import re
import shutil
import unittest

from session_case import ZKSH, SessionTest, environment
from server import Server, four_letter_word
from terminal import Terminal
from znodes import Znodes

GONE = rb"the servers have less than this session has seen \(zxid 0x[0-9a-f]+\): they were restored; what it held is gone"
NO_ANSWER = 0xffff_ffff_ffff_ffff  # shown as the last zxid then
PATIENCE = "20s"  # a server of a busy machine takes seconds to start


class RestoredServers(SessionTest):
    """The whole ensemble, which is one server here. Only the holders write, now and then, so its zxid stays behind."""

    def setUp(self):
        super().setUp()
        self.raise_zxid()
        self.waiters = [
            self.start("-t", PATIENCE, "watch", "-R", "/"),
            self.start("-t", PATIENCE, "elect", "-l", "/elect"),
            self.start("-t", PATIENCE, "wait", "--exists", "/late"),
            self.start("-t", PATIENCE, "lock", "/held", "--", "sleep", "600"),
        ]
        self.wait_node("/held")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/held")) == 1)
        self.waiters.append(self.start("-t", PATIENCE, "lock", "/held", "--", "echo", "mine"))
        self.wait_until(lambda: len(self.znodes.children(self.root + "/held")) == 2)
        self.terminal = self.enterContext(
            Terminal([ZKSH, "-t", PATIENCE, "-s", self.connect], environment(self.directory)))
        self.terminal.enter("pwd")
        self.terminal.read_until(rb"CONNECTED\) 1")

    def raise_zxid(self):
        for number in range(100):
            self.znodes.set(self.root, str(number).encode())

    def heard(self):
        """Of each session the number of its requests, and the zxid in the last answer."""
        lines = re.findall(r"recved=(\d+),.*sid=(0x\w+),.*to=20000,.*lzxid=0x(\w+)",
                           four_letter_word(self.server.port, "cons"))
        return {session: (int(requests), int(zxid, 16)) for requests, session, zxid in lines}

    def await_all_have_seen_it(self):
        """The last zxid; answers to heartbeats show it. With two more heartbeats they have read them, too: what is
        under way may be lost with the connection."""
        last = int(re.search(r"Zxid: (\S+)", four_letter_word(self.server.port, "srvr"))[1], 16)
        told = {}  # of each session, how many requests it had sent by then; another connection begins with none

        def have_read_it():
            heard = self.heard()
            for session, (requests, zxid) in heard.items():
                if last <= zxid < NO_ANSWER:
                    told[session] = min(requests, told.get(session, requests))
            return len(heard) > len(self.waiters) and all(
                session in told and requests >= told[session] + 2 for session, (requests, _) in heard.items())
        self.wait_until(have_read_it)

    def replace_data(self, backup):
        self.server.kill()
        data = os.path.join(self.server.directory, "data")
        shutil.rmtree(data)
        shutil.copytree(backup, data)
        self.server.start()
        self.connect_znodes()

    def check_all_go_on(self):
        changes, listener, late, holder, contender = self.waiters
        self.terminal.read_until(GONE)
        self.terminal.read_until(rb"new session 0x")
        self.assertEqual(holder.wait(60), 76)
        out, err = contender.communicate(timeout=60)
        self.assertEqual(out, b"mine\n", err)
        self.start("elect", "/elect", "ann")
        while b"ann" not in listener.stdout.readline():
            self.assertIsNone(listener.poll())
        self.znodes.create(self.root + "/late")
        self.assertEqual(late.wait(60), 0)
        while b"/late" not in changes.stdout.readline():
            self.assertIsNone(changes.poll())

    def test_wiped(self):
        """The new server has nothing but the tests' root, which those who connect first could not do without."""
        self.raise_zxid()  # beyond what those who connect first will have written to the new server
        self.await_all_have_seen_it()
        with Server() as fresh:
            with Znodes(fresh.address) as znodes:
                znodes.create(self.root)
            fresh.kill()
            self.replace_data(os.path.join(fresh.directory, "data"))
        self.check_all_go_on()

    def test_restored_with_the_sessions_in_it(self):
        """The servers still know the sessions, with what they held, until the old sessions time out."""
        self.await_all_have_seen_it()
        backup = self.file("backup")
        shutil.copytree(os.path.join(self.server.directory, "data"), backup)
        self.raise_zxid()
        self.await_all_have_seen_it()
        self.replace_data(backup)
        self.check_all_go_on()


if __name__ == "__main__":
    unittest.main()
