"""Far from the servers a command takes as many round trips as what it asks depends on answers, and no more.

The proxy counts them. A real network adds a round trip for TCP, which it hides. A busy machine may send late, after an
answer for which it need not wait, so each command has a few tries, over longer and longer ways.
"""
import json
import os
import socket
import subprocess
import time
import unittest

from session_case import SessionTest
from distance import Distance
from lock_case import LockTest
from proxy import Proxy
from server import needs
from zksh import ZKSH, environment, run_zksh

ONE_WAYS = (0.075, 0.15, 0.3, 0.6)  # of the tries, in seconds; farther away a lock needs a longer session


class RoundTripsTest(LockTest):
    def assert_round_trips(self, most, *words, before=None, status=0):
        """`before`: a command that is run near the server before each try."""
        taken = []
        for one_way in ONE_WAYS:
            if before:  # what it deletes need not be there
                run_zksh("-s", self.connect, "--keep-going", *before, env=environment(self.directory))
            with Proxy(self.server.port, delay=one_way) as far:
                result = run_zksh("-s", far.address + self.root, *words, env=environment(self.directory))
                taken.append(far.round_trips)
            self.assertEqual(result.returncode, status, result.stderr)
            if taken[-1] <= most:
                return
        self.fail(f"{' '.join(words)}: {taken} round trips, not {most}")

    def zksh(self, *words):
        result = run_zksh("-s", self.connect, *words, env=environment(self.directory))
        self.assertEqual(result.returncode, 0, result.stderr)


class OfNodes(RoundTripsTest):
    """One round trip is for the session, which nobody needs to see end."""

    def setUp(self):
        super().setUp()
        self.zksh("create", "/a", "x")

    def test_reads(self):
        for words in (("get", "/a"), ("ls", "/"), ("stat", "/a")):
            with self.subTest(words):
                self.assert_round_trips(2, *words)

    def test_writes(self):
        self.assert_round_trips(2, "set", "/a", "y")

    def test_the_end_of_an_ephemeral_is_awaited(self):
        # It is gone when zksh has ended.
        self.assert_round_trips(3, "create", "-e", "/e", "x")

    def test_no_end_is_awaited_of_an_ephemeral_that_was_deleted(self):
        self.assert_round_trips(3, "-c", "create -e /e x; delete /e")

    def test_copy(self):
        self.assert_round_trips(3, "cp", "/a", "/b", before=("deleteall", "--yes", "/b"))

    def test_move(self):
        self.assert_round_trips(5, "mv", "/c", "/d", before=("-c", "deleteall --yes /d; create /c x"))

    def test_a_command_for_each_node(self):
        self.zksh("fill", "-n", "300", "/many")
        for command in ("get {}", "set {} x"):
            with self.subTest(command):
                self.assert_round_trips(6, "find", "/many", "-exec", command)

    def test_touch(self):
        self.assert_round_trips(3, "touch", "/a")
        self.assert_round_trips(3, "touch", "/t", before=("deleteall", "--yes", "/t"))

    def test_parents(self):
        self.assert_round_trips(3, "create", "-p", "/x/y/z", "v", before=("deleteall", "--yes", "/x"))


class OfLocks(RoundTripsTest):
    def test_program(self):
        self.zksh("create", "-p", "/l/x")
        self.assert_round_trips(3, "lock", "/l", "--", "true")

    @needs(3, 5)  # containers
    def test_first_lock(self):
        for path in ("/p", "/p/q", "/p/q/r/s"):
            with self.subTest(path):
                self.assert_round_trips(4, "lock", path, "--", "true", before=("deleteall", "--yes", "/p"))

    def test_once(self):
        gone = ("deleteall", "--yes", "/o", "/o.once")
        self.zksh("create", "/o")
        self.assert_round_trips(6, "lock", "/o", "--once", "k", "--", "true",
                                before=("deleteall", "--yes", "/o.once"))
        self.assert_round_trips(4, "lock", "/o", "--once", "k", "--", "true")

    def test_several(self):
        self.zksh("-c", "create -p /m1/x; create -p /m2/x; create -p /m3/x")
        self.assert_round_trips(5, "multilock", "/m1", "/m2", "/m3", "--", "true")
        self.assert_round_trips(4, "multilock", "--atomic", "/m1", "/m2", "/m3", "--", "true")

    def test_semaphore(self):
        self.zksh("semaphore", "/s", "3", "--", "true")
        self.assert_round_trips(4, "semaphore", "/s", "3", "--", "true")
        self.assertEqual(self.znodes.get(self.root + "/s"), b"3")

    def test_semaphore_of_another_number(self):
        # Which is found out when a place in the queue has been asked for already.
        self.zksh("semaphore", "/s", "3", "--", "true")
        far = self.enterContext(Distance(self.server.port))
        for _ in range(2):
            result = run_zksh("-s", far.address + self.root, "semaphore", "/s", "5", "--", "true",
                              env=environment(self.directory))
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("/s is a semaphore of 3, not 5", result.stderr)
        self.assertEqual(self.znodes.children(self.root + "/s/locks"), [])

    def test_first_semaphore(self):
        far = self.enterContext(Distance(self.server.port))
        result = run_zksh("-s", far.address + self.root, "semaphore", "/new/s", "3", "--", "true",
                          env=environment(self.directory))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.znodes.get(self.root + "/new/s"), b"3")

    def held(self, *words):
        holder = subprocess.Popen([ZKSH, "-s", self.connect, *words, "--", "cat"], stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment(self.directory))
        self.addCleanup(holder.communicate)
        self.assertIn(b"acquired", holder.stderr.readline())

    def test_views(self):
        self.held("lock", "/h")
        for words in (("locks", "/h"), ("locks", "--watchers", "/h"), ("who", "/h")):
            with self.subTest(words):
                self.assert_round_trips(3, *words)

    def test_view_of_a_semaphore(self):
        self.held("semaphore", "/s", "3")
        self.assert_round_trips(4, "locks", "/s")

    def test_all_holders_are_asked_together(self):
        nodes = [f"/r/_c_3f2504e0-4f89-41d3-9a0c-0305e82c330{digit}-__READ__" for digit in range(5)]
        holder = subprocess.Popen([ZKSH, "-s", self.connect, "-c", "create /r; " + "; ".join(
            f"create -e -s {node} me" for node in nodes) + "; lock --hold /h"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(self.directory))
        self.addCleanup(holder.communicate)
        self.wait_until(lambda: self.znodes.exists(self.root + "/h"))
        self.assert_round_trips(4, "revoke", "/r")


class FarAway(SessionTest):
    """Half a second away, all is shown that is shown nearby."""

    def test_views_of_locks(self):
        holder = self.start("lock", "/h", "--", "cat")
        self.wait_until(lambda: self.znodes.exists(self.root + "/h") and self.znodes.children(self.root + "/h"))
        waiter = self.start("lock", "/h", "--", "cat")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/h")) == 2)
        with Distance(self.server.port, one_way=0.25) as far:
            for words in (("locks", "/h"), ("locks", "--watchers", "/h")):
                view = json.loads(self.run_whole("-o", "json", *words, server=far.address + self.root))
                self.assertEqual(view["watcherSource"], "measured")
                self.assertNotIn(None, [contender["client"] for contender in view["contenders"]])
        self.assertEqual((holder.poll(), waiter.poll()), (None, None))

    def test_what_is_missing_is_said(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        port = silent.getsockname()[1]
        self.zksh_near("create", "-p", "/l/x")
        # It accepts connections, and answers nothing: zksh connects to the other.
        _, _, err = self.run_zksh("locks", "/l", server=f"{self.server.address},127.0.0.1:{port}{self.root}")
        self.assertIn(f"127.0.0.1:{port} has not answered in time; addresses and watches may be missing", err)

    def zksh_near(self, *words):
        self.assertEqual(self.run_zksh(*words)[0], 0)


class Handoff(LockTest):
    """From the end of a program to the start of the next one's, each far from the server."""

    def handoff(self, far, wait):
        """In round trips, after the next one has waited for so many seconds."""
        def start(name):
            command = ["sh", "-c", f"date +%s%N > {self.file(name)}; cat; date +%s%N > {self.file(name)}.end"]
            return subprocess.Popen([ZKSH, "-s", far.address + self.root, "lock", "/l", "--", *command],
                                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env=environment(self.directory))

        for name in ("first", "first.end", "second"):
            if os.path.exists(self.file(name)):
                os.unlink(self.file(name))
        first = start("first")
        self.wait_until(lambda: os.path.exists(self.file("first")) and self.text("first"))
        second = start("second")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/l")) == 2)
        time.sleep(wait)  # how long it has waited is what the test is about
        first.communicate()
        second.communicate()
        return (int(self.text("second")) - int(self.text("first.end"))) / 1e9 / far.round_trip

    def assert_handoff(self, most, wait):
        """How long it takes counts here, so a busy machine needs long ways, and some tries over the longest."""
        taken = []
        for one_way in (*ONE_WAYS, *4 * ONE_WAYS[-1:]):
            with Distance(self.server.port, one_way) as far:
                taken.append(self.handoff(far, wait))
            if taken[-1] <= most:
                return
        self.fail(f"{taken} round trips, not {most}")

    def test_after_a_short_wait(self):
        self.assert_handoff(2.4, 0.5)

    def test_after_a_long_wait(self):
        self.assert_handoff(3.4, 12)


if __name__ == "__main__":
    unittest.main()
