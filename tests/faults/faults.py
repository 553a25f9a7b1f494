"""The fault driver: chooses which faults occur, when, where and for how long, from a seed.

Must run in the main thread, since members die with the thread that starts them.
"""
import os
import signal
import sys
import time

from dealer import Dealer, NotCaught, signal_all
from network import BLOCKED, MUTED, OPEN, SEVERED
from outcome import UNKNOWN
from running_processes import descendants
from world import SESSION

CATCH = 30.0  # seconds, to find a victim
MAY_BE_KILLED = ("mutex", "rwlock", "semaphore", "multilock", "guarded", "one-shot", "script", "pipe", "command")


class Faults(Dealer):
    """Those of members, of links, and of zksh under a lock."""

    def __init__(self, world, cluster, book):
        self.book = book
        super().__init__(world, cluster, {
            "follower killed": lambda: self.kill(self.a_follower()),
            "leader killed": lambda: self.kill(self.the_leader()),
            "member restarted at once": self.restart,
            "follower frozen": lambda: self.freeze(self.a_follower(), 1, 4),
            "leader frozen": lambda: self.freeze(self.the_leader(), 1, 6),
            "follower cut off": lambda: self.sever(self.a_follower(), 2, 5),
            "leader cut off": lambda: self.sever(self.the_leader(), 2, 8),
            "quorum lost": self.lose_quorum,
            "clients' connections cut": self.cut_clients,
            "clients cut off": self.block_clients,
            "answers to clients lost": self.mute_clients,
            "zksh killed": self.kill_zksh,
            "zksh frozen": self.freeze_zksh,
            "zksh and its program asleep": self.sleep_zksh,
        })

    def restore(self):
        self.world.ledger.free()
        super().restore()

    def restart(self):
        victim = self.random.choice(self.cluster.servers)
        self.world.note(f"SIGKILL to member {victim.number}, and a new start")
        victim.kill()
        victim._spawn()

    def lose_quorum(self):
        self.kill(*self.random.sample(self.cluster.servers, (len(self.cluster.servers) + 1) // 2))

    def sever(self, victim, least, most):
        self.world.note(f"member {victim.number} cut off from the others")
        links = self.cluster.links_of(victim)
        self.network.set(links, SEVERED)
        self.pause(least, most)
        self.network.set(links, OPEN)
        self.world.note("joined again")

    def block_clients(self):
        """For longer than a session lasts, one time of two; and the holder that is cut off stays."""
        holders = [who for who in self.world.ledger.inside("exclusive") + self.world.ledger.inside("write")
                   if self.world.attempt(who) and self.world.attempt(who).far]
        if holders:
            self.world.ledger.capture(holders[0])
            self.world.note(f"{holders[0]} stays inside")
        self.network.set(self.cluster.client_links, BLOCKED)
        self.pause(*self.random.choice([(0.5, 2), (SESSION + 0.5, SESSION * 1.4)]))
        self.network.set(self.cluster.client_links, OPEN)
        self.world.note("passes again")

    def mute_clients(self):
        """Until a write has lost its answer."""
        before = self.book.number(UNKNOWN)
        for i in range(40):
            if i >= 4 and self.book.number(UNKNOWN) > before:
                break
            self.network.set(self.cluster.client_links, MUTED)
            self.pause(0.1, 0.5)
            self.network.cut(self.cluster.client_links)
            self.network.set(self.cluster.client_links, OPEN)
            self.pause(0.1, 0.5)

    def kill_zksh(self):
        """One that holds a lock, and some others, wherever they are."""
        def strike(attempt):
            self.kill_attempt(attempt)
            ledger = self.world.ledger
            if not ledger.comes_to(lambda: not ledger.is_inside(attempt.who), 2 * SESSION):
                self.world.violate(f"the program of {attempt.who} lives on without zksh")
            return True
        self.a_holder(("mutex", "rwlock", "semaphore"), strike)
        for attempt in self.world.attempts():
            if attempt.kind in MAY_BE_KILLED and not attempt.struck and self.random.random() < 0.3:
                self.kill_attempt(attempt)

    def kill_attempt(self, attempt):
        attempt.struck = "killed"
        attempt.process.kill()
        self.world.note(f"SIGKILL to {attempt.who}")

    def freeze_zksh(self):
        """Its watchdog has to end the program."""
        def strike(attempt):
            attempt.struck = "frozen"
            attempt.process.send_signal(signal.SIGSTOP)
            self.world.note(f"SIGSTOP to {attempt.who}, whose program stays inside")
            time.sleep(SESSION + self.random.uniform(1, 2))
            attempt.process.send_signal(signal.SIGCONT)
            self.world.note("SIGCONT")
            return True
        self.a_holder(("mutex", "rwlock"), strike)

    def sleep_zksh(self):
        """As a machine that sleeps: nothing can end the program but the resource, by the token."""
        self.a_holder(("mutex",), self.put_to_sleep)

    def put_to_sleep(self, attempt):
        who, process, ledger = attempt.who, attempt.process, self.world.ledger
        process.send_signal(signal.SIGSTOP)
        below = descendants(process.pid)
        signal_all(below, signal.SIGSTOP)
        if not ledger.is_inside(who) or len(below) < 2:
            signal_all([process.pid, *below], signal.SIGCONT)
            return False
        ledger.pause(who)
        attempt.struck = "asleep"
        self.world.note(f"SIGSTOP to {who} and its program")
        ledger.comes_to(lambda: ledger.was_superseded(who), SESSION * 4)
        # The program first, so that it has the time to use its token.
        programs = [pid for pid in below if is_program(pid)]
        signal_all(programs, signal.SIGCONT)
        ledger.comes_to(lambda: ledger.was_refused(who) or not ledger.is_inside(who), 20)
        signal_all([process.pid, *below], signal.SIGCONT)
        self.world.note("SIGCONT")
        return True

    def a_holder(self, modes, strike):
        """Strikes a zksh whose program is inside; `strike` says whether it was still so."""
        until = time.monotonic() + CATCH
        names = {"mutex": ["exclusive"], "rwlock": ["read", "write"], "semaphore": ["semaphore"]}
        while time.monotonic() < until:
            inside = [who for mode in modes for name in names[mode] for who in self.world.ledger.inside(name)]
            attempt = self.world.attempt(self.random.choice(inside)) if inside else None
            if attempt and not attempt.struck and self.is_captured(attempt.who) and strike(attempt):
                return
            time.sleep(0.02)
        raise NotCaught

    def is_captured(self, who):
        """Its program does not leave by itself any more, unless it was about to."""
        self.world.ledger.capture(who)
        time.sleep(0.1)
        return self.world.ledger.is_inside(who)


def is_program(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().startswith(os.fsencode(sys.executable) + b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
