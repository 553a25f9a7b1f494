"""Contenders for locks: programs under a mutex, a read/write lock, a semaphore, several locks; writes under a guarded lock."""
import os
import re
import sys

from outcome import EXPIRED, FAILED, IN_DOUBT, NO_CONNECTION, OK, UNKNOWN
from world import LOST, SESSION, Actor

LEASES = 2
HOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "holder.py")
PYTHON = [sys.executable, "-I", "-S"]
TOO_FAR, BUSY, STALE, TERMINATED = 2, 75, 7, 143
LOCKS = {"mutex": "/f/mutex", "rwlock": "/f/rwlock", "semaphore": "/f/semaphore", "guarded": "/f/guarded"}
SEVERAL = ["/f/several-a", "/f/several-b", "/f/several-c"]


class Locker(Actor):
    """Takes a lock and runs holder.py under it."""

    def __init__(self, world, name, far, resource, kind):
        super().__init__(world, name, far)
        self.resource, self.kind = resource, kind

    def words(self):
        options = []
        if self.random.random() < 0.3:
            options = self.random.choice([["-n"], ["-w", "2s"], ["-w", "300ms"]])
        if self.kind == "multilock":
            options += ["--atomic"] if self.random.random() < 0.3 else []
            return ["multilock", *options, *self.random.sample(SEVERAL, 2)]
        path = LOCKS[self.kind]
        if self.kind == "mutex":
            return ["lock", *options, path]
        if self.kind == "rwlock":
            return ["rwlock", *options, path, "write" if self.random.random() < 0.3 else "read"]
        return ["semaphore", *options, path, str(LEASES)]

    def act(self):
        seconds = self.random.choice([0, 0.02, 0.1, 0.3, 1.5])
        words = [*self.words(), "--", *PYTHON, HOLDER, self.resource, self.who, str(seconds)]
        if self.random.random() < 0.3:
            words.append("--stubborn")
        self.world.count(f"{self.kind} contenders")
        self.judge(words, self.zksh(*words))

    def judge(self, words, ended):
        """Status and what the resource has seen agree."""
        ledger, who = self.world.ledger, self.who
        entered, left = ledger.has_entered(who), ledger.has_left(who)
        # The servers were silent for so long that it had to end, perhaps before it had entered, and then confirmed the
        # lock after all.
        doubted = "the servers do not confirm the lock" in ended.err
        good = {
            0: left,
            # Of several answers the fastest took a sixteenth of the session timeout: faults, or a busy machine.
            TOO_FAR: not entered and "a lock needs -t " in ended.err,
            BUSY: not entered and ("-n" in words or "-w" in words),
            NO_CONNECTION: not entered,
            EXPIRED: not entered,
            IN_DOUBT: not entered,
            LOST: True,
            STALE: ledger.was_refused(who),
            TERMINATED: doubted,
            -9: ended.struck == "killed",
        }.get(ended.status, False)
        if not good:
            self.world.violate(f"{who} ended wrongly (entered: {entered}, left: {left}): {ended.brief()}")
        self.world.expect_fault(who, SESSION, ended)
        # A program that did not end by itself was ended for a reason, and zksh was there to give it.
        if ended.struck in ("frozen", "asleep") and not left and ended.status != LOST:
            self.world.violate(f"{who} was {ended.struck}, and does not say that its lock was lost: {ended.brief()}")
        if ended.status == LOST and "released" in ended.err and "was held throughout" not in ended.err:
            self.world.violate(f"{who} lost its lock and says that it released it: {ended.brief()}")


class Guarded(Actor):
    """Adds one to a number, by a read and a plain write; only the lock keeps others from doing it meanwhile."""

    kind = "guarded"
    counter = "/f/guarded-number"

    def __init__(self, world, name, far, book):
        super().__init__(world, name, far)
        self.book = book

    def act(self):
        # A script ends at the first failure, and so says when no number will come; a bare pipe runs on.
        attempt = self.world.start(self.who, self.kind, "-f", "-", far=self.far, bufsize=0)
        pipe, value = attempt.process, ""
        try:
            pipe.stdin.write(f"lock --guard {LOCKS['guarded']}\nget {self.counter}\n".encode())
            value = pipe.stdout.readline().decode().strip()
            if value:
                pipe.stdin.write(f"set -s {self.counter} {int(value) + 1}\n".encode())
        except BrokenPipeError:
            pass
        ended = self.world.finish(attempt)
        if value:
            self.book.counted(self.counter, self.outcome(ended), int(value) + 1)

    @staticmethod
    def outcome(ended):
        if re.search(r"^dataVersion = ", ended.out, re.MULTILINE):
            return OK
        if ended.status == IN_DOUBT or ended.status == -9:
            return UNKNOWN
        return FAILED
