"""Deadlocks: sessions that wait for each other in a circle are reported, if they can be seen."""
import json
import re
import signal
import unittest

from lock_case import LockTest


class Circles(LockTest):
    def shell(self, *held):
        """A zksh that reads lines, and holds these locks."""
        shell = self.start(bufsize=0)
        for path in held:
            self.send(shell, f"lock {path}\n".encode())
            self.wait_contenders(1, path)
        return shell

    def ask(self, shell, path, position=2, options=""):
        self.send(shell, f"lock {options} {path}\n".encode())
        self.wait_contenders(position, path)

    def locks(self, *arguments):
        status, out, err = self.run_zksh("locks", "-o", "json", *arguments)
        self.assertEqual(status, 0, err)
        return [json.loads(line) for line in out.splitlines()]

    def circles(self, path):
        (lock,) = self.locks(path)
        return [[(link["path"], link["held"]) for link in circle] for circle in lock["circles"]]

    def two(self):
        one, other = self.shell("/x"), self.shell("/y")
        self.ask(one, "/y")
        self.ask(other, "/x")
        return one, other

    def test_both_shells_name_it(self):
        one, other = self.two()
        self.wait_said(other, "waiting /x: deadlock: its holder waits for /y, which this shell holds; "
                              "to give up: Ctrl-C, or unlock /y\n")
        self.wait_said(one, "waiting /y: deadlock: its holder waits for /x, which this shell holds; "
                            "to give up: Ctrl-C, or unlock /x\n")

    def test_locks_shows_it_to_anybody(self):
        self.two()
        for path in ("/x", "/y"):
            self.assertEqual([sorted(circle) for circle in self.circles(path)], [[("/x", True), ("/y", True)]])
        text = r"deadlock: 0x\w+ waits at /[xy] for 0x\w+, which waits at /[xy] for 0x\w+\n"
        self.assertRegex(self.run_zksh("locks", "/x")[1], text)
        self.assertRegex(self.run_zksh("locks", "-o", "plain", "/x")[2], text)
        self.assertEqual(len(re.findall(text, self.run_zksh("locks", "-r", "/")[2])), 1)
        self.assertEqual([len(lock["circles"]) for lock in self.locks("-r", "/")], [1, 1])

    def test_a_look_that_lasts_shows_it_when_it_closes(self):
        one, other = self.shell("/x"), self.shell("/y")
        self.ask(one, "/y")
        look = self.start("locks", "/y", "-w", "-o", "json")
        self.assertEqual(json.loads(look.stdout.readline())["circles"], [])
        self.ask(other, "/x")  # of which no watch at /y tells
        while not (circles := json.loads(look.stdout.readline())["circles"]):
            pass
        (circle,) = circles
        self.assertEqual({link["path"] for link in circle}, {"/x", "/y"})
        one.send_signal(signal.SIGINT)
        while json.loads(look.stdout.readline())["circles"]:
            pass

    def test_three_shells(self):
        first, second, third = self.shell("/x"), self.shell("/y"), self.shell("/z")
        self.ask(first, "/y")
        self.ask(second, "/z")
        self.ask(third, "/x")
        self.wait_said(third, "waiting /x: deadlock: its holder waits for /y, whose holder waits for /z, which this shell holds")
        self.assertEqual([sorted(circle) for circle in self.circles("/z")],
                         [[("/x", True), ("/y", True), ("/z", True)]])

    def test_readers_are_in_none(self):
        one, other = self.shell(), self.shell()
        self.send(one, b"rlock /x\nlock /y\n")
        self.wait_contenders(1, "/y")
        self.send(other, b"rlock /x\n")
        self.wait_contenders(2, "/x")
        self.ask(other, "/y")
        self.assertEqual((self.circles("/x"), self.circles("/y")), ([], []))

    def semaphore(self, shell, count):
        self.send(shell, b"semaphore /s 2\n")
        self.wait_until(lambda: self.znodes.exists(self.root + "/s/leases") and
                        len(self.nodes("/s/leases")) == count)

    def test_a_full_semaphore_closes_one_only_when_all_of_its_leases_are_in_it(self):
        holders = [self.shell(), self.shell()]
        for count, shell in enumerate(holders, 1):
            self.semaphore(shell, count)
        waiter = self.shell("/x")
        self.send(waiter, b"semaphore /s 2\n")
        self.wait_contenders(1, "/s/locks")
        self.ask(holders[0], "/x", 2)
        self.assertEqual(self.circles("/s"), [], "the other holder may give its lease back")
        self.ask(holders[1], "/x", 3)
        self.wait_said(waiter, "waiting /s: deadlock: its holder waits for /x, which this shell holds")
        self.assertNotEqual(self.circles("/s"), [])


if __name__ == "__main__":
    unittest.main()
