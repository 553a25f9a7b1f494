"""contend: its counts, the protocol for programs, and that it leaves nothing behind however it ends."""
import contextlib
import re
import signal
import unittest

from session_case import SessionTest
from proxy import Proxy
from server import Server, four_letter_word, needs
from znodes import Znodes


def watches(server):
    """None where the server has not answered."""
    found = re.search(r"^zk_watch_count\t(\d+)", four_letter_word(server.port, "mntr"), re.MULTILINE)
    return int(found[1]) if found else None


class ContendTest(SessionTest):
    """/l is the lock; its contenders are its children."""

    def contenders(self):
        lock = self.root + "/l"
        return sorted(self.znodes.children(lock), key=lambda name: name[-10:]) if self.znodes.exists(lock) else []

    def start_contending(self, count, *options, **how):
        """contend, when all are in the queue."""
        process = self.start("contend", "/l", "-n", str(count), *options, **how)
        self.wait_until(lambda: len(self.contenders()) == count)
        return process

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode()

    def figures(self, *options, **how):
        """Name → figures, of each recipe one."""
        status, out, err = self.run_zksh("-o", "plain", "contend", "/l", *options, **how)
        self.assertEqual((status, err), (0, ""))
        return {name: figures for name, *figures in (line.split("\t") for line in out.splitlines())}

    def assert_nothing_left(self):
        self.wait_until(lambda: self.contenders() == [], limit=15)
        self.wait_until(lambda: watches(self.server) == 0, limit=15)


@needs(3, 6)  # older servers do not count watch events
class Counting(ContendTest):
    def test_fair_and_herd_side_by_side(self):
        figures = self.figures("-n", "10", "--hold", "200ms", "--compare")
        self.assertEqual(figures["recipe"], ["fair", "herd"])
        self.assertEqual(figures["acquisitions"], ["10", "10"])
        self.assertEqual(figures["together"], ["1", "1"])
        self.assertEqual((figures["events"][0], figures["eventsByOneRelease"][0]), ("9", "1"))
        self.assertGreaterEqual(int(figures["events"][1]), 9 + 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1)
        self.assertGreaterEqual(int(figures["eventsByOneRelease"][1]), 8)
        self.assertEqual((figures["nodesLeft"], figures["watchesLeft"]), (["0", "0"], ["0", "0"]))
        self.assert_nothing_left()

    def test_a_thousand_contenders(self):
        figures = self.figures("-n", "1000", "--hold", "0")
        self.assertEqual(figures["acquisitions"], ["1000"])
        self.assertLessEqual(int(figures["events"][0]), 999)
        self.assertGreater(int(figures["events"][0]), 900)
        self.assertEqual(figures["eventsByOneRelease"], ["1"])
        self.assertEqual((figures["nodesLeft"], figures["watchesLeft"]), (["0"], ["0"]))
        self.assert_nothing_left()

    def test_a_server_that_does_not_allow_mntr(self):
        with Server({"4lw.commands.whitelist": "srvr"}) as server:
            status, out, err = self.run_zksh("--admin-server", "off", "-o", "plain", "contend", "/l", "-n", "5",
                                             "--hold", "200ms", server=server.address)
        self.assertEqual(status, 0)
        self.assertIn("events\t4\n", out)
        self.assertIn("watchesLeft\t-\n", out)
        self.assertEqual(err, "the events are counted by the contenders: "
                              f"{server.address} does not allow mntr\n")

    def test_more_sessions_than_a_server_takes(self):
        # Those that come at the same time can get past the limit; so others are there already.
        with Server({"maxClientCnxns": "4"}) as server, contextlib.ExitStack() as others:
            for _ in range(3):
                others.enter_context(Znodes(server.address))
            status, out, err = self.run_zksh("contend", "/l", "--sessions", "10", server=server.address)
        self.assertEqual((status, out), (12, ""))
        self.assertIn("only 1 of 10 sessions could be opened; a server may limit the connections from one address", err)


class ForPrograms(ContendTest):
    def report(self, process, count):
        """The turns of one run, in the order in which they held."""
        lines = [process.stdout.readline() for _ in range(count)]
        self.assertEqual(process.stdout.readline(), b"done\n")
        return sorted((tuple(map(int, line.split())) for line in lines), key=lambda turn: turn[1])

    def test_handshake(self):
        process = self.start("contend", "/deep/down/l", "-n", "3", "--rounds", "4", "--sessions", "2", "--report")
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.assertTrue(self.znodes.exists(self.root + "/deep/down"))
        self.assertFalse(self.znodes.exists(self.root + "/deep/down/l"), "it waits to be told")
        for _ in range(2):
            self.send(process, b"go\n")
            turns = self.report(process, 12)
            for asked, acquired, releasing, released in turns:
                self.assertLess(asked, acquired)
                self.assertLessEqual(acquired, releasing)
                self.assertLess(releasing, released)
            for before, after in zip(turns, turns[1:]):
                self.assertLessEqual(before[2], after[1])
        self.assertEqual(self.finish(process), (0, "", ""))

    def test_input_that_holds_commands_cannot_start_it(self):
        status, out, err = self.run_zksh(text=b"contend /l --report\n")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("--report reads standard input", err)


class Leaving(ContendTest):
    def test_interrupt(self):
        for options in ((), ("--recipe", "herd"), ("--compat", "all", "--sessions", "3")):
            nodes = 3 if "all" in options else 1
            with self.subTest(options):
                process = self.start("contend", "/l", "-n", "20", "--hold", "1h", *options)
                self.wait_until(lambda: len(self.contenders()) == 20 * nodes)
                process.send_signal(signal.SIGINT)
                status, out, err = self.finish(process)
                self.assertEqual((status, out), (130, ""))
                self.assertRegex(err, r"^interrupted after [01] of 20 acquisitions; all contenders have left the queue\n$")
                self.assert_nothing_left()

    def test_terminate(self):
        process = self.start_contending(5, "--hold", "1h")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process)[0], 143)
        self.assert_nothing_left()

    def test_node_deleted_while_it_is_held(self):
        process = self.start_contending(3, "--hold", "4s")
        self.znodes.delete(f"{self.root}/l/{self.contenders()[0]}")
        status, _, err = self.finish(process)
        self.assertEqual(status, 76)
        self.assertIn("1 of 3 acquisitions was lost before its release\n", err)
        self.assert_nothing_left()

    def test_connection_cut_and_back(self):
        with Proxy(self.server.port) as proxy:
            process = self.start_contending(3, "--hold", "4s", server=proxy.address + self.root)
            proxy.cut()
            status, out, err = self.finish(process)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"acquisitions +3\n")
        self.assert_nothing_left()

    def test_session_expires(self):
        process = self.start("-t", "10s", "contend", "/l", "-n", "3", "--hold", "5s")
        self.wait_until(lambda: watches(self.server) == 2)  # so the first one holds it
        process.send_signal(signal.SIGSTOP)
        self.wait_until(lambda: self.contenders() == [])
        process.send_signal(signal.SIGCONT)
        status, out, err = self.finish(process)
        self.assertEqual(status, 76, err)
        self.assertRegex(out, r"acquisitions +3\n")
        self.assertIn("the session ended", err)
        self.assert_nothing_left()

    def test_all_queue_up_again_when_the_session_of_all_expires(self):
        process = self.start("-t", "5s", "contend", "/l", "-n", "30", "--hold", "400ms")
        self.wait_until(lambda: len(self.contenders()) > 15)
        process.send_signal(signal.SIGSTOP)
        self.wait_until(lambda: self.contenders() == [])
        process.send_signal(signal.SIGCONT)
        status, out, err = self.finish(process)
        self.assertIn(status, (0, 76), err)  # 0: nobody held it in that moment
        self.assertRegex(out, r"acquisitions +30\n")
        self.assert_nothing_left()

    def test_many_whose_sessions_expire_queue_up_again(self):
        """The C client knows of the end before it reports it, on the thread that drives the contenders."""
        paths = [f"/many{number}" for number in range(15)]
        processes = [self.start("-t", "15s", "contend", path, "-n", "3", "--hold", "1h") for path in paths]

        def all_have(least):
            nodes = [self.root + path for path in paths]
            return all(self.znodes.exists(node) and len(self.znodes.children(node)) >= least for node in nodes)
        self.wait_until(lambda: all_have(3))
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        self.wait_until(lambda: not any(self.znodes.children(self.root + path) for path in paths))
        for process in processes:
            process.send_signal(signal.SIGCONT)
        self.wait_until(lambda: all_have(2))  # the one that held it was lost
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            out, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (130, 76), err)
            self.assertIn(b"all contenders have left the queue", err)

    def test_interrupt_after_the_session_expired(self):
        process = self.start("-t", "15s", "contend", "/l", "-n", "10", "--hold", "1h")
        self.wait_until(lambda: len(self.contenders()) == 10)
        process.send_signal(signal.SIGSTOP)
        self.wait_until(lambda: self.contenders() == [])
        process.send_signal(signal.SIGCONT)
        # The session's end is heard of on the C client's thread; those that waited ask again.
        self.wait_until(lambda: len(self.contenders()) >= 9)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, (130, 76), err)
        self.assertIn(b"all contenders have left the queue", err)
        self.assert_nothing_left()

    def test_interrupt_while_no_server_answers(self):
        process = self.start_contending(3, "--hold", "1h")
        self.server.kill()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)

    def test_who_may_not_make_nodes_there(self):
        self.znodes.create(self.root + "/l")
        self.assertEqual(self.run_zksh("setAcl", "/l", "world:anyone:ra")[0], 0)
        status, out, err = self.run_zksh("contend", "/l", "-n", "5", "--compat", "curator")
        self.assertEqual((status, out), (7, ""))
        self.assertIn("/l", err)


if __name__ == "__main__":
    unittest.main()
