"""A lock that is lost: the program under it is dead before another can hold the lock."""
import os
import signal
import unittest

from lock_case import LossTest
from proxy import Proxy
from running_processes import children


class NobodyAnswers(LossTest):
    def test_frozen_server(self):
        holder, program = self.start_holder(options=["-t", "24000"])
        contender = self.start_contender()
        self.server.freeze()
        # The server is still frozen: by its own clock alone.
        self.assert_ends(holder, 76,
                         r"(?ms)^/l: the servers do not confirm the lock, which is safe for \S+ more: SIGTERM to pid "
                         r".*^/l: the servers do not confirm the lock, which is safe for \S+ more: SIGKILL to pid \d+ "
                         r".*^lost /l: the servers did not confirm it within the session timeout of 24s$")
        self.wait_ended(program, limit=0)
        self.server.thaw()
        self.assert_ends(contender, 0)
        self.assert_no_overlap()

    def test_cut_off(self):
        with Proxy(self.server.port) as proxy:
            holder, _ = self.start_holder(server=proxy.address + self.root)
            contender = self.start_contender()
            proxy.block()
            # The servers' clock ends the session, and the contender's turn comes, whatever the
            # holder does.
            self.assert_ends(contender, 0)
            _, err = self.assert_ends(holder, 76, "(?m)^lost /l: ")
            self.assertNotIn("released", err)
        self.assert_no_overlap()

    def test_the_tick_is_asked_for_once_for_a_lock_that_lasts(self):
        """It makes the time longer for which the lock is safe; a short lock does without."""
        with Proxy(self.server.port) as proxy:
            where = proxy.address + self.root
            self.assertEqual(self.run_zksh("-t", "120000", "lock", "/l", "--", "true", server=where)[0], 0)
            self.assertNotIn(b"conf", proxy.first_bytes.values())
            holder = self.start("-t", "24000", server=where, bufsize=0)
            self.send(holder, b"lock /l\n")
            self.wait_until(lambda: b"conf" in proxy.first_bytes.values())
            self.send(holder, b"lock /m\nquit\n")
            self.assert_ends(holder, 0, "released /m")
            self.assertEqual(list(proxy.first_bytes.values()).count(b"conf"), 1)

    def test_a_lock_is_lost_as_soon_as_another_session_is_open(self):
        holder = self.start("-t", "20000", bufsize=0)
        self.send(holder, b"lock /l\n")
        self.wait_said(holder, "acquired /l")
        self.send(holder, b"connect\n")
        self.wait_contenders(0)
        self.send(holder, b"status\nunlock\n")  # long before the next check of the lock
        out, err = self.assert_ends(holder, 76, "(?m)^lost /l: the session was closed$")
        self.assertRegex(out, r"(?m)^locks +/l \(lost\)$")
        self.assertNotIn("already gone", err)

    def test_unlock_of_a_nested_lock_counts_down_all_the_same(self):
        with Proxy(self.server.port) as proxy:
            holder = self.start(server=proxy.address + self.root, bufsize=0)
            self.send(holder, b"lock /l\nlock --nest /l\n")
            self.wait_said(holder, "held /l  2 times")
        self.wait_said(holder, "suspended /l")
        self.send(holder, b"unlock\n")
        self.wait_said(holder, "still held /l  1 more to unlock")

    def test_nothing_is_left_of_it_when_the_session_lives_on(self):
        """Servers that were all away give the sessions time again. Nobody may wait behind a lost lock then."""
        lines = {"/l": b"lock /l\n", "/m": b"lock /m -- sh -c 'exec tail -f /dev/null'\n"}
        holders = {path: self.start("--keep-going", "-t", "20000", bufsize=0) for path in lines}
        for path, holder in holders.items():
            self.send(holder, lines[path])
            self.wait_said(holder, f"acquired {path}")
        self.server.kill()
        for path, holder in holders.items():
            self.wait_said(holder, f"lost {path}: ")
        self.send(holders["/l"], b"unlock /l\n")
        self.wait_said(holders["/l"], "/l was lost: ")
        self.server.start()
        self.connect_znodes()
        for path, holder in holders.items():
            self.wait_said(holder, "reconnected to ")
            self.wait_contenders(0, path)

    def test_kill_instead_of_term(self):
        holder, _ = self.start_holder("--on-lost", "kill")
        self.server.freeze()
        _, err = self.assert_ends(holder, 76, "SIGKILL to pid")
        self.assertNotIn("SIGTERM", err)

    def test_program_that_ends_when_it_is_told(self):
        holder = self.lock("--", "sh", "-c", "trap 'echo clean; exit 0' TERM; echo ready; "
                           "while :; do sleep 0.01; done", options=["-t", "24000"])
        self.assertEqual(self.line(holder), "ready")
        self.server.freeze()
        out, err = self.assert_ends(holder, 76, "SIGTERM to pid", "(?m)^lost /l: ")
        self.assertEqual(out, "clean\n")
        self.assertNotIn("SIGKILL", err)

    def test_server_that_comes_back_before_the_program_is_told(self):
        with Proxy(self.server.port) as proxy:
            holder = self.lock("--", "sh", "-c", "echo ready; read line; exit 5",
                               options=["-t", "24000"], server=proxy.address + self.root)
            self.assertEqual(self.line(holder), "ready")
            proxy.block()
            self.wait_said(holder, "suspended /l")
            proxy.cut()
            self.wait_said(holder, "resumed /l")
            self.send(holder, b"end\n")
            self.assert_ends(holder, 5, "(?m)^released /l")

    def test_server_that_comes_back_after_the_program_was_told(self):
        with Proxy(self.server.port) as proxy:
            holder = self.lock("--grace", "8s", "--", "sh", "-c",
                               "trap 'echo told' TERM; echo ready; "
                               "until read line; do :; done; exit 5",
                               options=["-t", "48000"], server=proxy.address + self.root)
            self.assertEqual(self.line(holder), "ready")
            proxy.block()
            self.wait_said(holder, "SIGTERM to pid")
            proxy.cut()
            self.wait_said(holder, "/l: a server answers again, but pid")
            self.assertEqual(self.line(holder), "told")
            self.send(holder, b"end\n")
            self.assert_ends(holder, 5, "(?m)^released /l")
        self.assert_free()


class NodeDeleted(LossTest):
    def test_program_that_ignores_term(self):
        holder, _ = self.start_holder("--grace", "200ms")
        self.take_away()
        _, err = self.assert_ends(holder, 76, "(?m)^lost /l: its node was deleted$",
                                  r"(?m)^/l: the lock is lost: SIGTERM to pid \d+ ",
                                  r"(?m)^/l: the lock is lost: SIGKILL to pid \d+ ")
        self.assertNotIn("released", err)

    def test_whatever_the_program_returns(self):
        holder = self.lock("--", "sh", "-c", "trap 'exit 0' TERM; echo ready; "
                           "while :; do sleep 0.01; done")
        self.assertEqual(self.line(holder), "ready")
        self.take_away()
        self.assert_ends(holder, 76, "(?m)^lost /l: its node was deleted$", "SIGTERM to pid")

    def test_grandchildren(self):
        holder = self.lock("--grace", "200ms", "--", "sh", "-c",
                           "sh -c 'trap \"\" TERM; while :; do sleep 1000; done' & "
                           "echo $!; exec sleep 1000")
        grandchild = int(self.line(holder))
        self.take_away()
        self.assert_ends(holder, 76, "SIGTERM to pid")
        self.wait_ended(grandchild, limit=0)

    def test_kill_at_once(self):
        holder, program = self.start_holder("--on-lost", "kill")
        self.take_away()
        _, err = self.assert_ends(holder, 76, "SIGKILL to pid")
        self.assertNotIn("SIGTERM", err)
        self.wait_ended(program, limit=0)

    def test_only_a_warning(self):
        holder = self.lock("--on-lost", "warn", "--", "sh", "-c", "echo ready; read line; echo $line")
        self.assertEqual(self.line(holder), "ready")
        self.take_away()
        self.wait_said(holder, "keeps running (--on-lost warn)")
        self.send(holder, b"still here\n")
        out, err = self.assert_ends(holder, 76)
        self.assertEqual((out, err), ("still here\n", ""))


class Paused(LossTest):
    def test_paused_past_its_session(self):
        holder, program = self.start_holder()
        contender = self.start_contender()
        self.stop(holder)
        self.assert_ends(contender, 0)
        self.wait_ended(program, limit=0)  # although zksh is still stopped
        self.assert_no_overlap()
        holder.send_signal(signal.SIGCONT)
        _, err = self.assert_ends(holder, 76, "(?m)^lost /l: ")
        self.assertNotIn("released", err)

    def test_paused_together_with_its_watchdog(self):
        # As when the whole machine was suspended, but for the program: nothing can stop that.
        holder, program = self.start_holder()
        (watchdog,) = children(holder.pid)
        contender = self.start_contender()
        self.stop(holder)  # first: it would go on with a stopped watchdog
        os.kill(watchdog, signal.SIGSTOP)
        self.assert_ends(contender, 0)
        before = len(self.stamps("holder"))
        self.wait_until(lambda: len(self.stamps("holder")) > before)
        holder.send_signal(signal.SIGCONT)
        _, err = self.assert_ends(holder, 76, "SIGKILL to pid", "(?m)^lost /l: ")
        self.assertNotIn("SIGTERM", err)
        self.wait_ended(program, limit=0)


if __name__ == "__main__":
    unittest.main()
