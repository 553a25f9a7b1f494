#!/usr/bin/python3
"""zksh's semaphore has the layout of Curator's InterProcessSemaphoreV2: together they let in N, and not one more."""
import os
import subprocess
import tempfile
import unittest

from interop_case import DEADLINE, ZKSH, InteropTest, Part, Turn, changes, most_at_once, theirs
from peers import Round

LEASES = 2
ROUNDS = 150
PEER_ROUNDS = 250
HOLD_US = 4_000
# What runs under the semaphore says from when to when it did.
HOLD = f"""import time
started = time.monotonic_ns()
time.sleep({HOLD_US / 1e6})
print("held", started, time.monotonic_ns())
"""


class Semaphores(InteropTest):
    def zksh(self, path, program):
        """A shell that takes the semaphore again and again, and runs the program under it."""
        lines = tempfile.TemporaryFile()
        lines.write(f"semaphore {path} {LEASES} -- /usr/bin/python3 -I -S {program}\n".encode() * ROUNDS)
        lines.seek(0)
        self.addCleanup(lines.close)
        process = subprocess.Popen([ZKSH, "-s", self.server.address], stdin=lines,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def rounds(self, process):
        out, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 0, err.decode())
        held = [list(map(int, line.split()[1:])) for line in out.splitlines() if line.startswith(b"held ")]
        self.assertEqual(len(held), ROUNDS)
        return [Round(started, started, ended, ended) for started, ended in held]

    def test_with_curator(self):
        path = self.path()
        with tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, "hold.py")
            with open(program, "w", encoding="ascii") as file:
                file.write(HOLD)
            part = theirs("curator", f"semaphore:{LEASES}", 3)
            curator = self.started(part, path, PEER_ROUNDS, HOLD_US, [])
            shells = [self.zksh(path, program) for _ in range(2)]
            curator.start(path, part.kind, PEER_ROUNDS, HOLD_US, part.contenders)
            turns = [Turn(Part("zksh", "semaphore", 1, ()), one) for shell in shells for one in self.rounds(shell)]
            turns += [Turn(part, one) for one in curator.finish(DEADLINE)]
        self.assertGreaterEqual(len(turns), 1000)
        self.assertEqual(most_at_once(turns), LEASES)
        self.assertGreater(changes(turns), ROUNDS // 4)
        for queue in ("leases", "locks"):
            self.assertEqual(self.left(f"{path}/{queue}"), [])


if __name__ == "__main__":
    unittest.main()
