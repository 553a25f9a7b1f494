"""Programs under locks that had to wait for them, on servers that are well: none may be ended.

What a contender proves of its session while it waits decides how long its lock is known to be safe afterwards.
"""
import concurrent.futures
import contextlib
import itertools
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from znodes import Znodes  # noqa: E402
from zksh import ZKSH, environment  # noqa: E402

WAITS = (0.3, 0.4, 0.5, 0.6, 0.7)  # parts of the session timeout
WORK = 0.8
WELL = 1 / 6  # of the session timeout: a server that takes longer to answer a write is not well
TRIES = 5
# Words before and after the path, of the holder and of the one that waits for it.
KINDS = {
    "lock": (["lock"], ["lock"], []),
    "rlock": (["wlock"], ["rlock"], []),
    "wlock": (["rlock"], ["wlock"], []),
    "semaphore": (["semaphore"], ["semaphore"], ["1"]),
    "multilock": (["multilock"], ["multilock"], ["/waits-other"]),
    "elect": (["elect"], ["elect"], []),
    "all names": (["lock", "--compat", "all"], ["lock", "--compat", "all"], []),
}


class Pulse:
    """Writes to a server again and again, and knows how long the answers took. `with` begins and ends it."""

    def __init__(self, address):
        self.address = address
        self.answers = []  # when, and after how many seconds
        self.asked = time.monotonic()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def run(self):
        with Znodes(self.address) as nodes:
            nodes.ensure("/waits-pulse")
            while not self.over.wait(0.05):
                self.asked = time.monotonic()
                nodes.set("/waits-pulse", b"")
                now = time.monotonic()
                self.answers.append((now, now - self.asked))

    def longest(self, since):
        """The longest time that an answer took which came since then, or is still to come."""
        assert self.thread.is_alive(), f"{self.address} is no longer written to"
        return max([time.monotonic() - self.asked, *(took for when, took in self.answers if when >= since)])


class Hold:
    """A holder, and one that waits for it; each runs a program for its part of the session timeout."""

    def __init__(self, servers, directory, kind, session, wait, number):
        self.name = f"{kind}, session {session} s, wait {wait} of it"
        self.session = session
        before, after, more = KINDS[kind]
        path = f"/waits-{kind.replace(' ', '-')}-{session}-{number}"
        more = [f"{path}-other"] if kind == "multilock" else more
        self.words = ["-s", servers, "-t", f"{int(session * 1000)}"]
        self.directory = directory
        self.holder = [*self.words, *before, path, *more, "--", "sleep", str(wait * session)]
        self.waiter = [*self.words, *after, path, *more, "--", "sleep", str(WORK * session)]
        self.path = path

    def start(self, words):
        return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", ZKSH, *words], env=environment(self.directory),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def play(self):
        """What was wrong; empty if nothing."""
        holder = self.start(self.holder)
        line = holder.stderr.readline()  # acquired
        waiter = self.start(self.waiter)
        problems = [] if b"acquired" in line or b"leads" in line else [f"{self.name}: {line.decode()}"]
        for who, process in (("holder", holder), ("waiter", waiter)):
            err = process.communicate()[1].decode()
            if process.returncode != 0:
                problems.append(f"{self.name}: the {who} has status {process.returncode}: {err}")
        return problems


    def judge(self, pulses):
        """What was wrong while the servers were well: a machine with other work may stop them for seconds."""
        wrong = 0
        for _ in range(TRIES):
            begin = time.monotonic()
            problems = self.play()
            wrong += max(pulse.longest(begin) for pulse in pulses) < WELL * self.session
            if not problems or wrong == 2:  # a pause of zksh alone, which no pulse shows, does not come twice
                break
        return problems


def play_all(servers, directory, sessions, count, workers):
    """At least `count` holds on these servers, each kind with each wait; what was wrong with them."""
    cases = list(itertools.product(KINDS, sessions, WAITS))
    rounds = -(-count // len(cases))
    holds = [Hold(servers, directory, *case, number)
             for number, case in enumerate(case for _ in range(rounds) for case in cases)]
    with contextlib.ExitStack() as stack:
        pulses = [stack.enter_context(Pulse(server)) for server in servers.split(",")]
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(workers))
        problems = [problem for found in pool.map(lambda hold: hold.judge(pulses), holds) for problem in found]
    return len(holds), problems
