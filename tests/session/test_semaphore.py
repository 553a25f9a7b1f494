"""A semaphore shared by many zksh: as many programs run as it has leases, and never more."""
import signal
import unittest

from lock_case import PYTHON, LockTest

# Counts those who are inside in a file, and writes down how many there were; stays until there were three at once.
INSIDE = """
import fcntl, sys, time
count, seen = sys.argv[1:]
def change(by):
    with open(count, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        number = int(file.read()) + by
        file.seek(0)
        file.truncate()
        file.write(str(number))
    return number
with open(seen, "a") as file:
    file.write(f"{change(+1)}\\n")
while "3" not in open(seen).read():
    time.sleep(0.01)
change(-1)
"""
# Stays until its input ends.
STAY = ["cat"]


class Semaphore(LockTest):
    """At /s; its leases are what a lock's contenders are elsewhere."""

    def leases(self):
        return self.nodes("/s/leases")

    def wait_leases(self, number):
        self.wait_contenders(number, "/s/leases")

    def semaphore(self, *arguments, options=(), **how):
        return self.start(*options, "semaphore", "/s", *arguments, **{"bufsize": 0, **how})

    def assert_empty(self):
        for path in ("/s/leases", "/s/locks"):
            self.assert_free(path)

    def test_never_more_than_three_of_eight(self):
        count, seen = self.file("count", "0"), self.file("seen")
        holders = [self.semaphore("3", "--", *PYTHON, "-c", INSIDE, count, seen) for _ in range(8)]
        for holder in holders:
            self.assert_ends(holder, 0, timeout=60)
        inside = [int(line) for line in self.text("seen").splitlines()]
        self.assertEqual(len(inside), 8)
        self.assertEqual(max(inside), 3)
        self.assert_empty()

    def hold(self, number, *arguments):
        """So many zksh that hold a lease each, with programs that stay."""
        holders = [self.semaphore("3", *arguments, "--", *STAY) for _ in range(number)]
        self.wait_leases(number)
        return holders

    def test_the_fourth_waits_and_is_told_why(self):
        holders = self.hold(3)
        fourth = self.semaphore("3", "--", "true")
        self.assertRegex(self.wait_said(fourth, "waiting"),
                         r"waiting /s: no lease free, 3 of 3 taken \(the oldest for [\d.]+m?s: \S+ \d+ cat\)")
        fifth = self.semaphore("3", "--", "true")
        self.assertRegex(self.wait_said(fifth, "waiting"),
                         r"waiting /s: 2nd of 2 waiting for leases, behind \S+@\S+ \d+ true")
        self.close_input(holders[1])
        for process in (fourth, fifth):
            self.assert_ends(process, 0, "acquired /s", "released /s")
        for holder in (holders[0], holders[2], holders[1]):
            self.assert_ends(holder, 0)
        self.assert_empty()

    def test_a_killed_holder_gives_its_lease_to_the_next(self):
        holders = self.hold(2)
        holders.append(self.semaphore("3", "--", *STAY, options=["-t", "15s"]))
        self.wait_leases(3)
        fourth = self.semaphore("3", "--", "true")
        self.wait_said(fourth, "waiting /s")
        holders[2].kill()
        self.assert_ends(fourth, 0, "acquired /s")

    def test_an_interrupted_wait_leaves_no_node(self):
        self.hold(3)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                fourth = self.semaphore("3", "--", "true")
                self.wait_said(fourth, "waiting /s")
                fourth.send_signal(number)
                self.assert_ends(fourth, 128 + number)
                self.assert_free("/s/locks")
                self.assertEqual(len(self.leases()), 3)

    def test_lost_lease(self):
        holder = self.semaphore("3", "-Q", "2", "--", "sh", "-c", "echo ready; exec cat")
        self.assertEqual(self.line(holder), "ready")
        self.znodes.delete(f"{self.root}/s/leases/{sorted(self.leases())[1]}")
        self.wait_said(holder, "lost /s: its node was deleted")
        self.assert_ends(holder, 76)
        self.assert_empty()

    def test_busy(self):
        self.hold(3)
        for options, said in ((["-n"], "is busy"), (["-w", "10s"], "was not acquired in time")):
            with self.subTest(options):
                status, out, err = self.run_brief("semaphore", "/s", "3", *options, "--", "echo", "never")
                self.assertEqual((status, out), (75, ""), err)
                self.assertIn(f"/s {said}: 3 of 3 leases are taken", err)
                self.assert_free("/s/locks")

    def test_detached_and_asked_to_release(self):
        status, out, err = self.run_zksh("semaphore", "/s", "1", "--detach")
        self.assertEqual(status, 0, err)
        node, pid = out.split()
        self.kill_at_end(int(pid))
        self.assertEqual(self.run_brief("semaphore", "-n", "/s", "1", "--", "true")[0], 75)
        self.assertEqual(self.run_zksh("unlock", node)[0], 0)
        self.wait_ended(int(pid))
        self.assert_empty()

    def test_session_that_expires_while_waiting(self):
        """It queues up again at the end, and takes no lease of the old session for its own."""
        holder, *_ = self.hold(3)
        fourth = self.semaphore("3", "--", "true", options=["-t", "4s"])
        self.wait_said(fourth, "waiting /s")
        self.stop(fourth)
        self.assert_free("/s/locks")
        fourth.send_signal(signal.SIGCONT)
        self.assertIn("the session ended", self.wait_said(fourth, "asking again"))
        self.close_input(holder)
        self.assert_ends(fourth, 0, "acquired /s")


if __name__ == "__main__":
    unittest.main()
