"""--once and --at-least: a job that many machines start at the same time runs once."""
import signal
import unittest

from lock_case import LockTest
from proxy import Proxy


class Once(LockTest):
    def keys(self):
        path = self.root + "/l.once"
        return self.znodes.get(path).decode() if self.znodes.exists(path) else None

    def waiting(self, *options, **how):
        """zksh with a program that ends with 0 at a line of its input; once it runs."""
        holder = self.lock("--once", "key", *options, "--", "sh", "-c", "echo $$; read line; exit 0",
                           **how)
        self.line(holder)
        return holder

    def test_of_many_at_once_one_runs_it(self):
        file = self.file("runs")
        all_of_them = [self.lock("--once", "key", "sh", "-c", f"echo run >> {file}")
                       for _ in range(6)]
        said = [self.assert_ends(one, 0)[1] for one in all_of_them]
        self.assertEqual(self.text("runs"), "run\n")
        self.assertEqual(sum("/l: key has already run\n" in text for text in said), 5)
        self.assertEqual(self.keys(), "key\n")
        self.assert_free()

    def test_what_was_told_to_end_was_not_run(self):
        holder = self.lock("--once", "key", "--", "sh", "-c",
                           "trap 'exit 0' TERM; tail -f /dev/null & echo ready; wait")
        self.line(holder)
        holder.send_signal(signal.SIGTERM)
        self.assert_ends(holder, 0, "(?m)^released /l")
        self.assertEqual(self.keys(), "")

    def test_who_lost_the_lock_has_not_run_it(self):
        holder = self.waiting("--on-lost", "warn")
        self.take_away()
        self.send(holder, b"end\n")
        self.assert_ends(holder, 76)
        self.assertEqual(self.keys(), "")

    def test_connection_that_is_cut(self):
        with Proxy(self.server.port) as proxy:
            holder = self.waiting(server=proxy.address + self.root, options=["-t", "10000"])
            proxy.cut()
            self.send(holder, b"end\n")
            self.assert_ends(holder, 0, "(?m)^released /l")
        self.assertEqual(self.keys(), "key\n")

    def test_record_that_is_removed_meanwhile(self):
        holder = self.waiting()
        self.znodes.delete(self.root + "/l.once")
        self.send(holder, b"end\n")
        self.assert_ends(holder, 0)
        self.assertEqual(self.keys(), "key\n")


class AtLeast(LockTest):
    def staying(self, *options):
        holder = self.lock("--at-least", "1h", *options, "sh", "-c", "exit 7")
        self.wait_said(holder, "s more (--at-least)")
        self.assertEqual(len(self.nodes()), 1)
        return holder

    def test_others_find_it_busy_meanwhile(self):
        self.staying("--once", "key")
        self.assertEqual(self.run_brief("lock", "/l", "-n", "--once", "key", "true")[0], 75)

    def test_it_is_held_for_as_long(self):
        _, _, err = self.run_lock("--at-least", "700ms", "true")
        self.assertRegex(err, r"(?m)^released /l  held=([7-9]\d\dms|\d+(\.\d+)?s)$")

    def test_not_longer_than_the_program(self):
        _, _, err = self.run_lock("--at-least", "10ms", "sleep", "0.1")
        self.assertNotIn("--at-least", err)

    def test_signal_ends_it(self):
        holder = self.staying()
        holder.send_signal(signal.SIGTERM)
        out, err = holder.communicate(timeout=60)
        self.assertIn("released /l", err.decode())
        self.assertIn(holder.returncode, (7, 143))
        self.assert_free()

    def test_who_asks_for_it_gets_it(self):
        holder = self.staying()
        self.assertEqual(self.run_zksh("revoke", "-w", "20", "/l")[0], 0)
        self.assert_ends(holder, 7, "(?m)^released /l")

    def test_loss_ends_it(self):
        holder = self.staying()
        self.take_away()
        self.assert_ends(holder, 76, "(?m)^lost /l")


if __name__ == "__main__":
    unittest.main()
