"""The checker of the fault runs finds planted violations, and accepts what is allowed."""
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from ledger import Ledger  # noqa: E402
from lockers import HOLDER, PYTHON  # noqa: E402
from network import ANSWERS_BLOCKED, BLOCKED, MUTED, OPEN, REQUESTS_BLOCKED, SEVERED, Network  # noqa: E402
from outcome import FAILED, OK, UNKNOWN, Book, of_lines, of_status  # noqa: E402
from resource import Resource  # noqa: E402
from waiting import wait_until  # noqa: E402
from world import Ended, World  # noqa: E402
from write_commands import COMMANDS, TREE  # noqa: E402


class CommandsThatWrite(unittest.TestCase):
    def assert_allowed(self, name, outcome, *states):
        for state in states:
            self.assertIsNone(COMMANDS[name].fault(outcome, state), state)

    def assert_refused(self, name, outcome, *states):
        for state in states:
            self.assertIsNotNone(COMMANDS[name].fault(outcome, state), state)

    def test_one_request_is_done_or_not(self):
        self.assert_allowed("set", OK, {"n": "6"})
        self.assert_refused("set", OK, {"n": "5"}, {}, {"n": "6", "m": ""})
        self.assert_allowed("set", FAILED, {"n": "5"})
        self.assert_refused("set", FAILED, {"n": "6"}, {})
        self.assert_allowed("set", UNKNOWN, {"n": "5"}, {"n": "6"})
        self.assert_refused("set", UNKNOWN, {"n": "7"}, {})

    def test_a_tree_may_be_done_in_part(self):
        half = dict(list(TREE.items())[:5])
        for outcome in (FAILED, UNKNOWN):
            self.assert_allowed("deleteall", outcome, TREE, {}, half)
            self.assert_refused("deleteall", outcome, {**half, "t": "other"}, {**half, "u": ""})
        self.assert_refused("deleteall", OK, half)

    def test_a_transaction_may_not(self):
        half = dict(list(TREE.items())[:5])
        self.assert_refused("mv", UNKNOWN, half, {**TREE, "u": TREE["t"]})

    def test_no_value_is_lost_when_a_tree_is_moved(self):
        half = dict(list(TREE.items())[:5])
        self.assert_allowed("mv --in-parts", FAILED, {**half, **COMMANDS["mv"].after})
        self.assert_refused("mv --in-parts", FAILED, half, {})


class Losses(unittest.TestCase):
    """Of locks, by programs that nobody struck."""

    def setUp(self):
        self.world = World(1, "/tmp", "", "", Ledger(leases=2))

    def expect(self, status, err, struck="", session=5):
        self.world.expect_fault("who", session, Ended(status, "", err, struck))
        return bool(self.world.violations)

    def test_without_a_fault_they_are_violations(self):
        self.assertTrue(self.expect(76, "lost /a"))

    def test_a_program_that_is_ended_without_one_is_a_violation(self):
        self.assertTrue(self.expect(143, "/a: the servers do not confirm the lock, which is safe"))

    def test_during_a_fault_or_soon_after_they_are_allowed(self):
        with self.world.fault():
            self.assertFalse(self.expect(76, ""))
        self.assertFalse(self.expect(76, ""))

    def test_long_after_a_fault_they_are_violations(self):
        with self.world.fault():
            pass
        self.assertTrue(self.expect(76, "", session=-10))

    def test_what_ends_otherwise_is_none_of_them(self):
        self.assertFalse(self.expect(0, ""))
        self.assertFalse(self.expect(76, "", struck="frozen"))


class Ledgers(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger(leases=2)

    def enter(self, *holders):
        """Of each (mode, token, who): whether it came in."""
        return [self.ledger.enter("/l", *holder) for holder in holders]

    def assert_found(self, *texts):
        self.assertEqual(len(self.ledger.violations), len(texts), self.ledger.violations)
        for text, found in zip(texts, self.ledger.violations):
            self.assertIn(text, found)

    def test_one_after_the_other(self):
        for token, who in ((5, "a#1"), (7, "b#1"), (9, "a#2")):
            self.assertEqual(self.enter(("exclusive", token, who)), [True])
            self.assertTrue(self.ledger.write(who))
            self.ledger.leave(who)
        self.assert_found()
        self.assertEqual(self.ledger.figures["handovers to another contender"], 2)
        self.assertTrue(self.ledger.has_left("b#1"))

    def test_two_at_once(self):
        self.enter(("exclusive", 5, "a#1"), ("exclusive", 7, "b#1"))
        self.assert_found("two holders of /l: b#1 (token 7) comes in while a#1 (token 5) is inside")

    def test_one_that_died_is_not_inside(self):
        self.enter(("exclusive", 5, "a#1"))
        self.ledger.gone("a#1")
        self.enter(("exclusive", 7, "b#1"))
        self.assert_found()
        self.assertTrue(self.ledger.has_died("a#1"))

    def test_a_token_that_does_not_grow(self):
        for token in (7, 6):
            self.enter(("exclusive", 7, f"a#{token}"))
            self.ledger.gone(f"a#{token}")
        self.assert_found("a#6 uses /l with the stale token 7")
        self.assertTrue(self.ledger.was_refused("a#6"))

    def test_one_that_slept(self):
        """It is refused, and nobody is blamed."""
        self.enter(("exclusive", 5, "a#1"))
        self.ledger.pause("a#1")
        self.assertFalse(self.ledger.was_superseded("a#1"))
        self.assertEqual(self.enter(("exclusive", 7, "b#1")), [True])
        self.assertTrue(self.ledger.was_superseded("a#1"))
        self.assertFalse(self.ledger.write("a#1"))
        self.assertTrue(self.ledger.write("b#1"))
        self.assert_found()
        self.assertEqual(self.ledger.figures["stale tokens refused"], 1)

    def test_one_that_slept_before_it_came(self):
        self.ledger.pause("a#1")
        self.assertEqual(self.enter(("exclusive", 7, "b#1"), ("exclusive", 5, "a#1")), [True, False])
        self.assert_found()

    def test_readers_and_writers(self):
        self.assertEqual(self.enter(("read", 5, "r#1"), ("read", 4, "r#2")), [True, True])
        self.assert_found()
        self.enter(("write", 6, "w#1"))
        self.assert_found("two holders", "two holders")

    def test_a_reader_from_before_a_writer(self):
        self.enter(("write", 6, "w#1"))
        self.ledger.leave("w#1")
        self.assertEqual(self.enter(("read", 5, "r#1"), ("read", 7, "r#2")), [False, True])
        self.assert_found("r#1 uses /l with the stale token 5")

    def test_leases(self):
        self.assertEqual(self.enter(("semaphore", 9, "a#1"), ("semaphore", 4, "b#1")), [True, True])
        self.assert_found()
        self.enter(("semaphore", 11, "c#1"))
        self.assert_found("c#1 is number 3 in /l, which has 2 leases, with a#1, b#1")

    def test_one_lease_for_two(self):
        self.enter(("semaphore", 9, "a#1"), ("semaphore", 9, "b#1"))
        self.assert_found("b#1 has a lease of /l that another one has, too")


class Books(unittest.TestCase):
    def setUp(self):
        self.book = Book()

    def found(self, nodes, numbers=None):
        return list(self.book.violations(nodes, numbers or {}))

    def test_all_as_it_was_said(self):
        self.book.created("/a", OK, "1")
        self.book.created("/b", FAILED, "2")
        self.book.created("/c", UNKNOWN, "3")
        self.book.created("/d", UNKNOWN, "4")
        self.assertEqual(self.found({"/a": "1", "/c": "3"}), [])

    def test_something_lost(self):
        self.book.created("/a", OK, "1")
        self.assertIn("lost: /a", self.found({})[0])
        self.assertIn("lost: /a", self.found({"/a": "2"})[0])

    def test_a_failure_that_was_none(self):
        self.book.created("/a", FAILED, "1")
        self.assertIn("said to have failed", self.found({"/a": "1"})[0])

    def test_a_node_of_nobody(self):
        self.assertIn("nobody has created /a", self.found({"/a": "1"})[0])

    def test_counts(self):
        for outcome, value in ((OK, 1), (OK, 2), (FAILED, None), (UNKNOWN, None)):
            self.book.counted("/n", outcome, value)
        for found, good in ((1, False), (2, True), (3, True), (4, False)):
            self.assertEqual(self.found({}, {"/n": found}) == [], good, found)

    def test_a_number_that_came_twice(self):
        self.book.counted("/n", OK, 1)
        self.book.counted("/n", OK, 1)
        self.assertIn("the same number: [1]", self.found({}, {"/n": 2})[0])

    def test_statuses(self):
        self.assertEqual([of_status(status) for status in (0, 3, 5, 10, -9)], [OK, FAILED, FAILED, UNKNOWN, UNKNOWN])

    def test_lines_of_a_pipe(self):
        ended = Ended(10, '{"path":"/a"}\n{"path":"/d"}\n',
                      '{"error":"x","status":10,"line":2}\n{"error":"y","status":3,"line":3}\n{"ok":2,"failed":2}\n', "")
        self.assertEqual([outcome for outcome, _ in of_lines(5, ended)], [OK, UNKNOWN, FAILED, OK, FAILED])
        killed = Ended(-9, '{"path":"/a"}\n{"pa', "", "killed")
        self.assertEqual([outcome for outcome, _ in of_lines(2, killed)], [OK, UNKNOWN])

    def test_lines_of_a_script(self):
        ended = Ended(10, '{"path":"/a"}\n', '{"error":"x","status":10}\nstdin:2: stopped\n', "")
        self.assertEqual([outcome for outcome, _ in of_lines(3, ended)], [OK, UNKNOWN, FAILED])


class Programs(unittest.TestCase):
    """The real program under no lock at all."""

    def setUp(self):
        self.ledger = Ledger(leases=2)
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.resource = self.enterContext(Resource(directory, self.ledger))

    def start(self, who, token, seconds="60"):
        environment = {"ZKSH_LOCK_PATH": "/l", "ZKSH_LOCK_MODE": "exclusive", "ZKSH_LOCK_TOKEN": str(token)}
        process = subprocess.Popen([*PYTHON, HOLDER, self.resource.path, who, seconds], env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_inside(self, who):
        wait_until(lambda: self.ledger.is_inside(who))

    def test_two_at_once(self):
        first = self.start("a#1", 5)
        self.wait_inside("a#1")
        second = self.start("b#1", 7, "0")
        self.assertEqual((second.wait(60), first.wait(60)), (0, 7))
        self.assertIn("two holders of /l", self.ledger.violations[0])

    def test_one_after_the_other(self):
        self.assertEqual(self.start("a#1", 5, "0").wait(60), 0)
        killed = self.start("b#1", 7)
        self.wait_inside("b#1")
        killed.kill()
        killed.wait(60)
        self.assertEqual(self.start("c#1", 9, "0").wait(60), 0)
        self.assertEqual(self.ledger.violations, [])
        self.assertTrue(self.ledger.has_died("b#1"))

    def test_a_captive_stays(self):
        self.ledger.capture("a#1")
        process = self.start("a#1", 5, "0")
        self.wait_inside("a#1")
        writes = self.ledger.figures["writes under locks"]
        wait_until(lambda: self.ledger.figures["writes under locks"] >= writes + 3)
        self.assertTrue(self.ledger.is_inside("a#1"))
        self.ledger.free()
        self.assertEqual(process.wait(60), 0)


class Networks(unittest.TestCase):
    """Through a link to a server that answers every byte by itself."""

    def setUp(self):
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        self.heard = []
        threading.Thread(target=self.answer, args=(listener,), daemon=True).start()
        self.network = self.enterContext(Network())
        self.link = self.network.link(listener.getsockname()[1], told=(b"near", b"far!"))
        self.addCleanup(self.link.listener.close)

    def answer(self, listener):
        try:
            while True:
                with listener.accept()[0] as one:
                    self.talk(one)
        except OSError:
            pass  # the end of the test

    def talk(self, one):
        try:
            while data := one.recv(100):
                self.heard.append(data)
                one.send(data)
        except ConnectionResetError:
            pass

    def connect(self):
        one = self.enterContext(socket.create_connection(("127.0.0.1", self.link.port), 10))
        one.sendall(b"near")
        self.assertEqual(one.recv(100), b"far!")
        return one

    def test_what_is_blocked_comes_later(self):
        one = self.connect()
        self.network.set([self.link], BLOCKED)
        one.sendall(b"x")
        one.settimeout(0.05)
        self.assertRaises(TimeoutError, one.recv, 1)
        self.assertEqual(self.heard, [b"far!"])
        self.network.set([self.link], OPEN)
        one.settimeout(10)
        self.assertEqual(one.recv(1), b"x")

    def test_answers_are_lost(self):
        one = self.connect()
        self.network.set([self.link], MUTED)
        one.sendall(b"x")
        wait_until(lambda: self.heard == [b"far!", b"x"])
        one.settimeout(0.05)
        self.assertRaises(TimeoutError, one.recv, 1)

    def test_cut(self):
        one = self.connect()
        self.network.cut([self.link])
        self.assertRaises(ConnectionResetError, one.recv, 1)

    def test_severed(self):
        self.network.set([self.link], SEVERED)
        with self.assertRaises(ConnectionResetError):
            socket.create_connection(("127.0.0.1", self.link.port), 10).recv(1)

    def test_severed_with_its_connections(self):
        one = self.connect()
        self.network.sever([self.link])
        with self.assertRaises(ConnectionResetError):
            one.recv(1)
        self.network.set([self.link], OPEN)
        self.connect()

    def test_blocked_for_requests(self):
        one = self.connect()
        self.network.set([self.link], REQUESTS_BLOCKED)
        one.sendall(b"held")
        wait_until(lambda: self.network.held(self.link, is_answer=False) == 4)
        self.assertEqual(self.heard, [b"far!"])
        self.network.set([self.link], OPEN)
        self.assertEqual(one.recv(100), b"held")

    def test_blocked_for_answers(self):
        one = self.connect()
        self.network.set([self.link], ANSWERS_BLOCKED)
        one.sendall(b"held")
        wait_until(lambda: self.network.held(self.link, is_answer=True) == 4)
        self.assertEqual(self.heard, [b"far!", b"held"])
        one.setblocking(False)
        with self.assertRaises(BlockingIOError):
            one.recv(1)
        one.settimeout(10)
        self.network.set([self.link], OPEN)
        self.assertEqual(one.recv(100), b"held")

    def test_what_is_held_passes_in_pieces(self):
        one = self.connect()
        self.network.set([self.link], BLOCKED)
        one.sendall(b"old news and new")
        wait_until(lambda: self.network.held(self.link, is_answer=False) == 16)
        self.network.let(self.link, False, 8)
        wait_until(lambda: self.heard == [b"far!", b"old news"])
        self.assertEqual(self.network.held(self.link, is_answer=False), 8)
        self.network.set([self.link], OPEN)
        self.assertEqual(one.recv(8, socket.MSG_WAITALL), b"old news")
        self.assertEqual(one.recv(8, socket.MSG_WAITALL), b" and new")


if __name__ == "__main__":
    unittest.main()
