"""Requests of ZooKeeper 3.6 and later: what servers refuse, what was learnt of a server that was ill, and who gets them."""
import subprocess
import threading
import unittest

from session_case import ZKSH, SessionTest, environment
from broken_server import MULTI_READ, BrokenServer
from proxy import Proxy
from terminal import Terminal

GET, ADD_WATCH = 4, 106
THROTTLED = -127
READS = 'multi "get /a" "ls /b"\n'


class Recorder:
    """A server that says this version, and notes what it is asked: the operation, its number, and whether it sets a watch."""

    def __init__(self, version, refused=(), holds_back=0):
        self.version, self.refused, self.holds_back = version, refused, holds_back
        self.seen = []
        self.is_ill, self.words = False, 0
        self.unanswered = 0  # how many of the first words get no answer
        self.released = threading.Event()

    def __call__(self, connection):
        if connection.peek(4) == b"srvr":
            self.words += 1
        if self.is_ill:
            return None
        if connection.ahead == b"srvr":
            if self.words <= self.unanswered:
                return connection.stay()
            return connection.send(f"Zookeeper version: {self.version}-x, built on 01/01/2024 00:00 UTC\n".encode())
        connection.greet(timeout=30000)
        while True:
            body = connection.request()
            self.seen.append((connection.operation, connection.xid, body[-1]))
            if connection.operation == self.holds_back:
                self.released.wait(20)
            refused = connection.operation in self.refused
            connection.send(connection.answer(THROTTLED if refused else 0))

    def of(self, operation):
        return [one for one in self.seen if one[0] == operation]


class Newer(SessionTest):
    def test_a_watch_that_is_refused_replaces_no_other(self):
        """Neither one that is set afterwards, nor one that is asked for while the refusal is on its way."""
        recorder = Recorder("3.8.0", refused={ADD_WATCH}, holds_back=ADD_WATCH)
        with BrokenServer(recorder) as server:
            terminal = self.enterContext(Terminal([ZKSH, "-s", server.address], environment(self.directory)))
            terminal.read_until(rb"\) 0")
            terminal.type("addWatch -m PERSISTENT /a &\n")
            self.wait_until(lambda: recorder.of(ADD_WATCH))
            terminal.type("get -w /a\n")
            terminal.read_until(rb"get.{1,30}-w.{1,40}\n")
            recorder.released.set()
            terminal.type("get -w /a\n")
            self.wait_until(lambda: len(recorder.of(GET)) == 2)
            self.assertEqual([watches for _, _, watches in recorder.of(GET)], [1, 1])

    def test_a_watch_that_is_granted_reports_what_another_would(self):
        recorder = Recorder("3.8.0")
        with BrokenServer(recorder) as server:
            session = self.start("--keep-going", server=server.address)
            self.send(session, b"addWatch -m PERSISTENT /a\nget -w /a\n")
            self.wait_until(lambda: recorder.of(GET))
            self.assertEqual([watches for _, _, watches in recorder.of(GET)], [0])

    def test_what_an_ill_server_did_not_say_is_asked_again(self):
        """At each attempt to connect, and a while after it has said nothing, until it is well."""
        first, second = Recorder("3.9.3"), Recorder("3.9.3")
        second.is_ill = True
        with BrokenServer(second) as later:
            with BrokenServer(first) as server:
                session = self.start("--keep-going", server=f"{server.address},{later.address}")
                self.send(session, READS.encode())
                self.assertEqual(session.stdout.readline(), b"x\n")
            self.wait_until(lambda: second.words >= 9)
            second.is_ill = False
            self.wait_until(lambda: b"reconnected" in session.stderr.readline())

            def reads_together():
                self.send(session, READS.encode())
                return second.of(MULTI_READ)
            self.wait_until(reads_together)

    def test_a_server_that_paused_is_not_taken_for_an_old_one(self):
        recorder = Recorder("3.8.0")
        recorder.unanswered = 2
        with BrokenServer(recorder) as server:
            status, _, err = self.run_zksh("-c", "addWatch /a", server=server.address)
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(recorder.of(ADD_WATCH))

    def test_a_server_gets_what_it_has(self):
        """However the session moves between two versions."""
        old, new = Recorder("3.5.9"), Recorder("3.9.3")
        with BrokenServer(old) as older, BrokenServer(new) as newer, \
                Proxy(int(newer.address.split(":")[1])) as proxy:
            session = self.start("--keep-going", server=proxy.address, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            ended = threading.Event()

            def ask():
                while not ended.is_set():
                    self.send(session, (READS + "get /a\n").encode())
            asking = threading.Thread(target=ask)
            asking.start()
            for server, recorder in [(newer, new), (older, old)] * 10:
                proxy.move(int(server.address.split(":")[1]))
                before = len(recorder.seen)
                self.wait_until(lambda recorder=recorder, before=before: len(recorder.seen) > before + 20)
            ended.set()
            asking.join()
            self.assertTrue(new.of(MULTI_READ))
            self.assertFalse(old.of(MULTI_READ))

    def test_all_requests_have_different_numbers(self):
        """From 1 on: those that the C client begins with become negative in 2038."""
        recorder = Recorder("3.9.3")
        with BrokenServer(recorder) as server:
            status, _, err = self.run_zksh("-c", f"get /a; whoami; {READS.strip()}; get /a; {READS.strip()}", server=server.address)
            self.assertEqual(status, 0, err)
        numbers = [xid for operation, xid, _ in recorder.seen if operation != -11]
        self.assertTrue(recorder.of(MULTI_READ))
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertTrue(0 < numbers[0] < 10)


if __name__ == "__main__":
    unittest.main()
