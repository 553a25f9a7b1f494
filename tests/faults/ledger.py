"""Records what lock holders did, and checks it: tokens only grow, and holders exclude each other.

Pure book-keeping, without processes or clocks of its own, so that it can be tested with planted faults.
"""
import collections
import dataclasses
import threading
import time


@dataclasses.dataclass
class Holder:
    """A program under a lock. `who` names one attempt of one contender: NAME#NUMBER, and NAME#NUMBER@1 and so
    on for its further locks."""
    lock: str
    mode: str  # exclusive, read, write, semaphore
    token: int
    who: str
    accepted: bool
    fenced: bool = False  # another came in while it was paused

    @property
    def shared(self):
        return self.mode in ("read", "semaphore")


def attempt_of(who):
    return who.partition("@")[0]


class Ledger:
    """A resource's doorkeeper. It refuses stale tokens, and notes what must not have happened.

    An attempt that was paused as a whole (zksh, its watchdog and the program, as on a machine that slept)
    may still be inside when the next one comes: no lock service can prevent that. Then the token has to.
    Any other two at once are a violation, and so is any other stale token. From any thread.
    """

    def __init__(self, leases):
        self.leases = leases  # of a semaphore
        self.lock = threading.Condition()  # told of every entry of the journal
        self.journal = []  # (time, event, lock, who, token)
        self.violations = []
        self.figures = collections.Counter()
        self._paused = set()
        self._captives = set()
        self._inside = {}  # who → Holder
        self._left = set()
        self._dead = set()
        self._seen = set()
        self._refused = set()
        self._highest = collections.Counter()  # lock → greatest token seen
        self._exclusive = collections.Counter()  # lock → greatest token of one that was alone
        self._last = {}  # lock → name of the contender that came in last

    def pause(self, who):
        with self.lock:
            self._paused.add(who)
            self._note("paused", "-", who, 0)

    def capture(self, who):
        """It does not leave by itself, until `free`."""
        with self.lock:
            self._captives.add(who)

    def is_captive(self, who):
        with self.lock:
            return attempt_of(who) in self._captives

    def free(self):
        with self.lock:
            self._captives.clear()

    def enter(self, lock, mode, token, who):
        """Whether it may come in."""
        with self.lock:
            holder = Holder(lock, mode, token, who, True)
            if who in self._seen:
                self._violate(f"{who} enters {lock} twice")
            self._seen.add(who)
            if self._is_stale(holder):
                return self._refuse(holder, "entry")
            self._check_alone(holder)
            self._inside[who] = holder
            self._highest[lock] = max(self._highest[lock], token)
            if not holder.shared:
                self._exclusive[lock] = max(self._exclusive[lock], token)
            self._note("enters", lock, who, token)
            self.figures[f"{mode} locks taken"] += 1
            name = who.partition("#")[0]
            if self._last.setdefault(lock, name) != name:
                self.figures["handovers to another contender"] += 1
            self._last[lock] = name
            return True

    def write(self, who):
        """Whether what it writes is accepted."""
        with self.lock:
            holder = self._inside[who]
            if holder.fenced or self._is_superseded(holder):
                return self._refuse(holder, "write")
            self.figures["writes under locks"] += 1
            return True

    def leave(self, who):
        with self.lock:
            self._note("leaves", *self._end(who))
            self._left.add(who)

    def gone(self, who):
        """Its connection ended without a word: it was killed."""
        with self.lock:
            if who in self._inside:
                self._note("died", *self._end(who))
                self._dead.add(who)
                self.figures["programs that died under a lock"] += 1

    def inside(self, mode):
        """Who is inside now, and may be paused."""
        with self.lock:
            return [who for who, one in self._inside.items() if one.mode == mode and not self._is_paused(who)]

    def has_entered(self, who):
        with self.lock:
            return who in self._seen

    def has_left(self, who):
        """Whether it went in, and came out by itself."""
        with self.lock:
            return who in self._left

    def has_died(self, who):
        with self.lock:
            return who in self._dead

    def is_inside(self, who):
        with self.lock:
            return who in self._inside

    def was_refused(self, who):
        with self.lock:
            return who in self._refused

    def was_superseded(self, who):
        """Whether another one came in that excludes it, while it was still inside."""
        with self.lock:
            holder = self._inside.get(who)
            return holder is not None and (holder.fenced or self._is_superseded(holder))

    def comes_to(self, state, seconds):
        """Whether a state, which asks this ledger, is reached in time. Blocks until then."""
        with self.lock:
            return self.lock.wait_for(state, seconds)

    def _is_paused(self, who):
        return attempt_of(who) in self._paused

    def _is_stale(self, holder):
        if holder.mode == "semaphore":
            return False  # many tokens are good at a time, and their order says nothing
        seen = self._exclusive if holder.shared else self._highest
        return holder.token <= seen[holder.lock]

    def _is_superseded(self, holder):
        if holder.mode == "semaphore":
            return False
        seen = self._exclusive if holder.shared else self._highest
        return holder.token < seen[holder.lock]

    def _check_alone(self, newcomer):
        others = [one for one in self._inside.values() if one.lock == newcomer.lock]
        if newcomer.mode == "semaphore":
            if any(one.token == newcomer.token for one in others):
                self._violate(f"{newcomer.who} has a lease of {newcomer.lock} that another one has, too")
            others = [one for one in others if not self._is_paused(one.who)]
            if len(others) >= self.leases:
                self._violate(f"{newcomer.who} is number {len(others) + 1} in {newcomer.lock}, which has "
                              f"{self.leases} leases, with {', '.join(one.who for one in others)}")
            return
        for one in others:
            if one.shared and newcomer.shared:
                continue
            one.fenced = True
            if not self._is_paused(one.who):
                self._violate(f"two holders of {newcomer.lock}: {newcomer.who} (token {newcomer.token}) comes in "
                              f"while {one.who} (token {one.token}) is inside")

    def _refuse(self, holder, what):
        self._note(f"{what} refused", holder.lock, holder.who, holder.token)
        self.figures["stale tokens refused"] += 1
        self._refused.add(attempt_of(holder.who))
        if not self._is_paused(holder.who):
            self._violate(f"{holder.who} uses {holder.lock} with the stale token {holder.token}, "
                          "and was never paused")
        return False

    def _end(self, who):
        holder = self._inside.pop(who)
        return holder.lock, who, holder.token

    def _note(self, event, lock, who, token):
        self.journal.append((time.monotonic(), event, lock, who, token))
        self.lock.notify_all()

    def _violate(self, text):
        self._note("VIOLATION", text, "", 0)
        self.violations.append(text)
