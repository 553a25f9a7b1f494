"""Shared by the fault drivers: a sequence of faults from a seed, and a cluster that is healed after each.

Must run in the main thread, since members die with the thread that starts them.
"""
import os
import time

from server import ServerError
from waiting import comes_true

PATIENCE = 60.0  # seconds, for members that start and elect


class NotCaught(Exception):
    """There was no victim."""


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Dealer:
    """Each of `kinds` (name → what is done) is dealt once before any comes again."""

    def __init__(self, world, cluster, kinds):
        self.world, self.cluster, self.network = world, cluster, cluster.network
        self.random = world.random("faults")
        self.kinds = kinds
        self.counts = dict.fromkeys(kinds, 0)
        self.deck = []

    def deal(self, enough):
        """All kinds, in an order of the seed; then more of them until it is enough, or a violation."""
        while not self.world.violations and (0 in self.counts.values() or not enough()):
            self.strike_next()

    def strike_next(self):
        self.deck = self.deck or self.random.sample(sorted(self.kinds), len(self.kinds))
        self.strike(self.deck.pop())

    def strike(self, kind):
        self.world.note(kind)
        with self.world.fault():
            try:
                self.kinds[kind]()
                self.counts[kind] += 1
            except NotCaught:
                self.world.note(f"{kind}: nobody to strike")
                self.world.violate(f"no victim for: {kind}")
            self.whole()
        self.restore()

    def restore(self):
        self.whole()
        self.pause(0.3, 1.0)

    def pause(self, least, most):
        """For how long a fault lasts, or until the next: a length of the seed's, not a wait for something."""
        time.sleep(self.random.uniform(least, most))

    def whole(self):
        """Until all members serve."""
        if not comes_true(self.cluster.all_serve, PATIENCE):
            modes = [server.mode() for server in self.cluster.servers]
            logs = "\n".join(server._log() for server in self.cluster.servers)
            raise ServerError(f"the members do not serve again: {modes}\n{logs}")
        self.world.note("all members serve")

    def the_leader(self):
        return self.cluster.leader() or self.cluster.servers[0]

    def a_follower(self):
        return self.random.choice(self.cluster.followers() or self.cluster.servers)

    def kill(self, *victims):
        self.world.note(f"SIGKILL to member {[victim.number for victim in victims]}")
        for victim in victims:
            victim.kill()
        self.pause(0.3, 3)
        for victim in victims:
            victim._spawn()
        self.world.note("started again")

    def cut_clients(self):
        for _ in range(3):
            self.network.cut(self.cluster.client_links)
            self.pause(0.05, 0.5)

    def freeze(self, victim, least, most):
        self.world.note(f"SIGSTOP to member {victim.number}")
        victim.freeze()
        self.pause(least, most)
        victim.thaw()
        self.world.note("SIGCONT")
