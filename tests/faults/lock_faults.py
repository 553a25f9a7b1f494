"""The fault driver for locks: links between servers, leaders, followers, and the holders' processes.

The lengths of faults are drawn around what they are measured by: syncLimit ticks, and the sessions' timeouts.
"""
import time
from signal import SIGKILL, SIGSTOP

from dealer import Dealer, NotCaught
from families import Family
from lock_contenders import SESSIONS
from lock_ledger import DIRECT
from network import ANSWERS_BLOCKED, BLOCKED, MUTED, OPEN, REQUESTS_BLOCKED

CATCH = 40.0  # seconds, to find a holder
VICTIMS = 8
LONG_ENOUGH = 1.5  # seconds that a victim's program is to work

# Blows to a holder's processes, one after the other at once. Where nobody is left who could end the program, its
# stamps are counted apart: `abandoned` says of which programs that is so.
NONE, ALL = (lambda program: False), (lambda program: True)
INDIRECT = lambda program: program not in DIRECT  # noqa: E731 - the kernel's death signal ends the others
STRIKES = {
    "zksh killed": ([("zksh", SIGKILL)], NONE),
    "zksh stopped": ([("zksh", SIGSTOP)], NONE),
    "watchdog killed": ([("watchdog", SIGKILL)], NONE),
    "watchdog stopped": ([("watchdog", SIGSTOP)], NONE),
    "program killed": ([("program", SIGKILL)], NONE),
    "program stopped": ([("program", SIGSTOP)], NONE),
    "zksh and program stopped": ([("zksh", SIGSTOP), ("program", SIGSTOP)], NONE),
    "program stopped, zksh killed": ([("program", SIGSTOP), ("zksh", SIGKILL)], NONE),
    "program stopped, watchdog killed": ([("program", SIGSTOP), ("watchdog", SIGKILL)], NONE),
    "program and watchdog stopped": ([("program", SIGSTOP), ("watchdog", SIGSTOP)], NONE),
    "zksh and watchdog killed": ([("watchdog", SIGSTOP), ("zksh", SIGSTOP), ("watchdog", SIGKILL),
                                  ("zksh", SIGKILL)], INDIRECT),
    "zksh and watchdog stopped": ([("watchdog", SIGSTOP), ("zksh", SIGSTOP)], ALL),
    "all three stopped": ([("program", SIGSTOP), ("watchdog", SIGSTOP), ("zksh", SIGSTOP)], ALL),
}


class LockFaults(Dealer):
    """`part`: of how many runs this is which, so that together they begin with every kind."""

    def __init__(self, world, cluster, part=(0, 1)):
        super().__init__(world, cluster, {
            **{name: (lambda name=name: self.strike_holders(name)) for name in STRIKES},
            "link frozen": lambda: self.block_link(BLOCKED),
            "link frozen to the leader": lambda: self.block_link(REQUESTS_BLOCKED),
            "link frozen to the follower": lambda: self.block_link(ANSWERS_BLOCKED),
            "link and elections frozen": self.block_with_elections,
            "link broken": self.break_link,
            "links frozen one after the other": self.block_in_turn,
            "follower lags": self.lag,
            "leader cut off": self.cut_leader_off,
            "leader frozen, shorter than the limit": lambda: self.freeze_member(self.the_leader(), 0.3, 0.9),
            "leader frozen, longer than the limit": lambda: self.freeze_member(self.the_leader(), 1.2, 1.8),
            "follower frozen, shorter than the limit": lambda: self.freeze_member(self.a_follower(), 0.3, 0.9),
            "follower frozen, longer than the limit": lambda: self.freeze_member(self.a_follower(), 1.2, 1.8),
            "leader killed": lambda: self.kill(self.the_leader()),
            "follower killed": lambda: self.kill(self.a_follower()),
            "clients' connections cut": self.cut_clients,
            "clients cut off": self.block_clients,
            "answers to clients lost": self.mute_clients,
            "link frozen, zksh stopped": lambda: self.block_and_strike("zksh stopped"),
            "link frozen, watchdog stopped": lambda: self.block_and_strike("watchdog stopped"),
            "link frozen, watchdog killed": lambda: self.block_and_strike("watchdog killed"),
            "leader frozen, program stopped": self.freeze_and_strike,
        })
        self.victims = dict.fromkeys(STRIKES, 0)
        number, parts = part
        whole = world.common_random("deck").sample(sorted(self.kinds), len(self.kinds))
        begin = len(whole) * number // parts
        self.deck = [*whole[begin:], *whole[:begin]][::-1]

    def restore(self):
        self.whole()
        self.pause(0.5, 2)  # locks change hands undisturbed, too

    def length(self):
        """Seconds: about the followers' patience, or a session's, or a moment."""
        return self.random.choice([self.random.uniform(0.2, 1), self.cluster.patience * self.random.uniform(0.4, 1.4),
                                   self.random.choice(SESSIONS[:2]) * self.random.uniform(0.8, 1.5)])

    def last(self, seconds):
        self.world.note(f"for {seconds:.2f} s")
        time.sleep(seconds)

    def a_link(self):
        leader, follower = self.the_leader(), self.a_follower()
        if leader is follower:
            raise NotCaught
        self.world.note(f"from follower {follower.number} to leader {leader.number}")
        return self.cluster.quorum_link(follower, leader), follower, leader

    def block_link(self, state):
        link = self.a_link()[0]
        self.network.set([link], state)
        self.last(self.length())
        self.network.set([link], OPEN)

    def block_with_elections(self):
        link, follower, leader = self.a_link()
        links = [link, *self.cluster.election_links(follower, leader)]
        self.network.set(links, BLOCKED)
        self.last(self.length())
        self.network.set(links, OPEN)

    def break_link(self):
        link = self.a_link()[0]
        self.network.sever([link])
        self.last(self.length())
        self.network.set([link], OPEN)

    def leaders_links(self):
        leader = self.the_leader()
        self.world.note(f"leader {leader.number}")
        return leader, [self.cluster.quorum_link(one, leader) for one in self.cluster.servers if one is not leader]

    def block_in_turn(self):
        """Each link of the leader, so that for a while it has no quorum."""
        links = self.random.sample(self.leaders_links()[1], 2)
        for state in (BLOCKED, OPEN):
            for link in links:
                self.network.set([link], state)
                self.last(self.length() / 2)

    def lag(self):
        """What was held passes in pieces: the follower's news are old."""
        link = self.a_link()[0]
        self.network.set([link], BLOCKED)
        self.last(self.random.uniform(0.5, 0.9) * self.cluster.patience)
        for _ in range(10):
            for is_answer in (False, True):
                held = self.network.held(link, is_answer)
                if held:
                    self.network.let(link, is_answer, self.random.randint(1, held))
            self.pause(0.02, 0.15)
        self.network.set([link], OPEN)

    def cut_leader_off(self):
        leader = self.the_leader()
        links = self.cluster.links_of(leader)
        self.world.note(f"leader {leader.number}")
        self.network.set(links, BLOCKED)
        self.last(self.length())
        self.network.set(links, OPEN)

    def freeze_member(self, victim, least, most):
        """Parts of the patience of those who follow, or lead."""
        self.freeze(victim, least * self.cluster.patience, most * self.cluster.patience)

    def block_clients(self):
        self.network.set(self.cluster.client_links, BLOCKED)
        self.last(self.length())
        self.network.set(self.cluster.client_links, OPEN)

    def mute_clients(self):
        for _ in range(3):
            self.network.set(self.cluster.client_links, MUTED)
            self.pause(0.1, 1)
            self.network.cut(self.cluster.client_links)
            self.network.set(self.cluster.client_links, OPEN)
            self.pause(0.1, 0.5)

    def block_and_strike(self, name):
        link = self.a_link()[0]
        self.network.set([link], BLOCKED)
        try:
            self.strike_holders(name)
        finally:
            self.network.set([link], OPEN)

    def freeze_and_strike(self):
        leader = self.the_leader()
        leader.freeze()
        try:
            self.strike_holders("program stopped")
        finally:
            leader.thaw()

    def strike_holders(self, name):
        """Some of those who hold locks now, for less or more than their sessions last."""
        blows, abandoned = STRIKES[name]
        families = []
        for attempt, hold in self.holders():
            attempt.struck = "killed" if ("zksh", SIGKILL) in blows else "frozen"
            self.world.struck[attempt.who] = name
            family = Family(attempt.process.pid, hold.pids - hold.left)
            if abandoned(attempt.program):
                self.world.ledger.abandon(attempt.who)
            for who, number in blows:
                family.send(who, number)
            families.append(family)
            self.world.note(f"{name}: {attempt.who}, {attempt.program}, session {attempt.session} s")
        self.victims[name] += len(families)
        self.last(self.random.choice([0.3, 1.3, 1.8]) * self.random.choice(SESSIONS[:2]))
        for family in families:
            family.wake()

    def holders(self):
        """(attempt, hold) of some whose programs work on for a while."""
        until = time.monotonic() + CATCH
        while time.monotonic() < until:
            found = [(self.world.attempt(hold.who), hold) for hold in self.world.ledger.inside()]
            found = [(attempt, hold) for attempt, hold in found
                     if attempt and not attempt.struck and attempt.seconds > LONG_ENOUGH]
            if found:
                return self.random.sample(found, min(len(found), VICTIMS))
            time.sleep(0.02)
        raise NotCaught
