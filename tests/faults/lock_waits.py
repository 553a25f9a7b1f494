"""Programs under locks that had to wait for them, on servers that are well: none may be ended.

What a contender proves of its session while it waits decides how long its lock is known to be safe afterwards.
"""
import concurrent.futures
import itertools
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from zksh import ZKSH, environment  # noqa: E402

WAITS = (0.3, 0.4, 0.5, 0.6, 0.7)  # parts of the session timeout
WORK = 0.8
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


class Hold:
    """A holder, and one that waits for it; each runs a program for its part of the session timeout."""

    def __init__(self, servers, directory, kind, session, wait, number):
        self.name = f"{kind}, session {session} s, wait {wait} of it"
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


def play_all(servers, directory, sessions, count, workers):
    """At least `count` holds on these servers, each kind with each wait; what was wrong with them."""
    cases = list(itertools.product(KINDS, sessions, WAITS))
    rounds = -(-count // len(cases))
    holds = [Hold(servers, directory, *case, number)
             for number, case in enumerate(case for _ in range(rounds) for case in cases)]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        problems = [problem for found in pool.map(Hold.play, holds) for problem in found]
    return len(holds), problems
