"""Contenders for many locks of every kind at once, whose programs stamp a ledger."""
import dataclasses

from lock_ledger import PROGRAMS
from world import Actor

SESSIONS = (4, 6, 10)
NOT_ENTERED = (2, 69, 73, 75)  # statuses of a zksh whose program was never started
MANY = 180  # seconds: longer than any queue here lasts


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind of hold: its paths, how many of them a contender takes, and the words for zksh."""
    name: str
    paths: tuple
    contenders: int
    words: callable  # random → (words before the paths, words after them, the mode of each claim)
    taken: int = 1


def of_lock(*options):
    return lambda random: (["lock", *options], [], "exclusive")


def of_side(random):
    side = "write" if random.random() < 0.3 else "read"
    return ["rwlock"], [side], side


def of_leases(leases, most):
    def words(random):
        quantity = random.randint(1, most)
        return ["semaphore", "-Q", str(quantity)] if quantity > 1 else ["semaphore"], [str(leases)], f"{quantity}/{leases}"
    return words


def of_several(random):
    return ["multilock", *(["--atomic"] if random.random() < 0.3 else [])], [], "exclusive"


def paths(name, count):
    return tuple(f"/l/{name}-{i}" for i in range(count))


KINDS = (
    Kind("mutex", paths("mutex", 8), 20, of_lock()),
    Kind("read/write lock", paths("rwlock", 5), 16, of_side),
    Kind("semaphore", paths("semaphore", 3), 10, of_leases(2, 1)),
    Kind("semaphore, several leases", paths("leases", 2), 7, of_leases(4, 3)),
    Kind("multilock", paths("several", 4), 6, of_several, 2),
    Kind("herd", paths("herd", 2), 5, of_lock("--recipe", "herd")),
    Kind("all names", paths("all", 2), 5, of_lock("--compat", "all")),
)


class Contender(Actor):
    """Takes a lock of its kind, again and again."""

    pause = (0, 0.1)

    def __init__(self, world, cluster, name, kind, programs=PROGRAMS):
        super().__init__(world, name, False)
        self.cluster, self.lock_kind, self.kind, self.programs = cluster, kind, kind.name, programs

    def act(self):
        random = self.random
        before, after, mode = self.lock_kind.words(random)
        taken = random.sample(self.lock_kind.paths, self.lock_kind.taken)
        session, program = random.choice(SESSIONS), random.choice(self.programs)
        # A few are long, so that every fault finds some inside.
        seconds = random.uniform(2, 9) if random.random() < 0.06 else random.choice([0, 0.02, 0.05, 0.1, 0.2])
        wait = random.choice([["-n"], ["-w", "2s"]]) if random.random() < 0.1 else ["-w", f"{random.randint(10, 40)}s"]
        claims = [f"{path}:{mode}" for path in taken]
        words = [before[0], *wait, *before[1:], *taken, *after, "--",
                 *self.world.ledger.program(self.who, seconds, program, claims)]
        attempt = self.world.start(self.who, self.kind, *words, session=session, **self.servers(random))
        attempt.session, attempt.program, attempt.seconds = session, program, seconds
        ended = self.world.finish(attempt, patience=MANY)
        self.judge(ended, program, session)

    def servers(self, random):
        """All of them, all behind the clients' links, or one alone."""
        kind = random.choice(["near", "near", "far", "one"])
        if kind == "one":
            return {"servers": random.choice(self.cluster.servers).address}
        return {"far": kind == "far"}

    def judge(self, ended, program, session):
        """Its status and its stamps agree."""
        hold = self.world.ledger.hold(self.who)
        if hold:
            self.world.held(hold, self.lock_kind.name, program, ended)
        self.world.expect_fault(self.who, session, ended)
        if hold and not ended.struck and ended.status in NOT_ENTERED:
            self.world.violate(f"{self.who} has held the lock and says that it has not: {ended.brief()}")
        if not hold and ended.status == 0:
            self.world.violate(f"{self.who} has not held the lock and says that it has: {ended.brief()}")
