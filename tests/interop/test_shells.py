#!/usr/bin/python3
"""zksh and Curator share semaphores and multi-locks: neither admits too many."""
import os
import subprocess
import sys
import tempfile
import unittest

from interop_case import DEADLINE, ZKSH, InteropTest, Part, Turn, changes, most_at_once, theirs
from peers import Round
from server import needs

LEASES = 2
ROUNDS = 100
PEER_ROUNDS = 250
HOLD_US = 4_000
# What runs under the locks says from when to when it did.
HOLD = f"""import time
started = time.monotonic_ns()
time.sleep({HOLD_US / 1e6})
print("held", started, time.monotonic_ns())
"""


@needs(3, 5)  # what Curator needs
class Shells(InteropTest):
    def setUp(self):
        super().setUp()
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.program = os.path.join(directory, "hold.py")
        with open(self.program, "w", encoding="ascii") as file:
            file.write(HOLD)

    def zksh(self, command):
        """A shell that takes the lock again and again, and runs the program under it."""
        lines = tempfile.TemporaryFile()
        lines.write(f"{command} -- {sys.executable} -I -S {self.program}\n".encode() * ROUNDS)
        lines.seek(0)
        self.addCleanup(lines.close)
        process = subprocess.Popen([ZKSH, "-s", self.server.address], stdin=lines,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def rounds(self, process):
        out, err = process.communicate(timeout=4 * DEADLINE)  # a program is started each time
        self.assertEqual(process.returncode, 0, err.decode())
        held = [list(map(int, line.split()[1:])) for line in out.splitlines() if line.startswith(b"held ")]
        self.assertEqual(len(held), ROUNDS)
        return [Round(started, started, ended, ended) for started, ended in held]

    def share(self, path, kind, contenders, commands):
        """The turns of Curator's contenders and of the shells; as in assert_excluded, again if one came after the
        other."""
        part = theirs("curator", kind, contenders)
        for _ in range(5):
            curator = self.started(part, path, PEER_ROUNDS, HOLD_US, [])
            shells = [self.zksh(command) for command in commands]
            curator.start(path, part.kind, PEER_ROUNDS, HOLD_US, part.contenders)
            turns = [Turn(Part("zksh", command, 1, ()), one)
                     for command, shell in zip(commands, shells) for one in self.rounds(shell)]
            turns += [Turn(part, one) for one in curator.finish(4 * DEADLINE)]
            if changes(turns) > ROUNDS // 4:
                return turns
        self.fail(f"one came after the other each time: {changes(turns)} changes")

    def test_semaphore(self):
        path = self.path()
        turns = self.share(path, f"semaphore:{LEASES}", 3, [f"semaphore {path} {LEASES}"] * 2)
        self.assertEqual(len(turns), 2 * ROUNDS + 3 * PEER_ROUNDS)
        self.assertEqual(most_at_once(turns), LEASES)
        for queue in ("leases", "locks"):
            self.assertEqual(self.left(f"{path}/{queue}"), [])

    def test_one_lock_of_several(self):
        path, other = self.path(), self.path()
        turns = self.share(path, "mutex", 2, [f"multilock {other} {path}", f"multilock --atomic {path} {other}"])
        self.assertEqual(most_at_once(turns), 1)
        for queue in (path, other):
            self.assertEqual(self.left(queue), [])


if __name__ == "__main__":
    unittest.main()
