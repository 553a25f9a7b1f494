"""Shared by all parts of a run: the seed, the time line, the violations, and zksh as a child process."""
import abc
import collections
import contextlib
import dataclasses
import random
import signal
import subprocess
import threading
import time

from zksh import ZKSH, environment

SESSION = 5.0  # seconds
SANITIZER = 99  # the exit status that tests/CMakeLists.txt sets for what sanitizers find
LOST = 76  # the exit status
TO_END = 6.0  # seconds, from a loss to the end of zksh
MOST = 90.0  # seconds: no attempt takes so long, whatever fails


@dataclasses.dataclass
class Attempt:
    """A zksh that runs. `struck`: how the driver of faults has treated it (killed, frozen, asleep)."""
    who: str
    process: subprocess.Popen
    kind: str
    far: bool = False
    struck: str = ""


@dataclasses.dataclass
class Ended:
    status: int
    out: str
    err: str
    struck: str

    def brief(self):
        return f"status {self.status}, stdout {self.out[-300:]!r}, stderr {self.err[-600:]!r}"


def is_crash(ended):
    """Whether it ended by a signal that nobody has sent, or a sanitizer has found something."""
    return (ended.status < 0 and ended.struck != "killed") or ended.status == SANITIZER


class World:
    """Thread-safe."""

    def __init__(self, seed, directory, near, far, ledger):
        self.seed, self.directory, self.ledger = seed, directory, ledger
        self.near, self.far = near, far
        self.stopping = threading.Event()
        self.violations = ledger.violations  # appending is atomic
        self.figures = collections.Counter()
        self.begin = time.monotonic()
        self.timeline = []
        self.faults = []  # [begin, end]; the last may have no end yet
        self._attempts = {}
        self._lock = threading.Lock()

    def random(self, name):
        """A generator of its own for each part: what one draws does not change what another one gets."""
        return random.Random(f"{self.seed}/{name}")

    def note(self, text):
        self.timeline.append((time.monotonic(), text))

    @contextlib.contextmanager
    def fault(self):
        span = [time.monotonic(), None]
        self.faults.append(span)
        try:
            yield
        finally:
            span[1] = time.monotonic()

    def had_fault(self, seconds):
        """Whether there was one within the last seconds."""
        since = time.monotonic() - seconds
        return any(end is None or end >= since for _, end in self.faults)

    def expect_fault(self, who, session, ended):
        """A program that was ended for its lock, or a lock that was lost, without a fault before is a violation."""
        lost = ended.status == LOST or "do not confirm the lock" in ended.err
        if lost and not ended.struck and not self.had_fault(session + TO_END):
            self.violate(f"{who} lost its lock, and there was no fault: {ended.brief()}")

    def violate(self, text):
        self.note("VIOLATION")
        self.violations.append(f"{time.monotonic() - self.begin:.1f} s: {text}")

    def count(self, name, number=1):
        with self._lock:
            self.figures[name] += number

    def attempts(self):
        with self._lock:
            return list(self._attempts.values())

    def attempt(self, who):
        with self._lock:
            return self._attempts.get(who)

    def stop(self, actors, patience):
        """Lets everyone come to an end; who does not in time is a violation."""
        self.stopping.set()
        until = time.monotonic() + patience
        for actor in actors:
            actor.join(max(until - time.monotonic(), 0.1))
            if actor.is_alive():
                self.violate(f"{actor.name} has not come to an end")

    def start(self, who, kind, *words, far=False, servers=None, session=SESSION, **how):
        """zksh, which dies with the thread that starts it. Call `finish` with what it returns. `servers`: other
        ones than the near or the far."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", ZKSH, "-s", servers or (self.far if far else self.near),
             "-t", f"{int(session * 1000)}", "--connect-timeout", "8s", *words],
            env=environment(self.directory, VISUAL="sed -i s/5/6/", XDG_CONFIG_HOME="/nonexistent",
                            XDG_CONFIG_DIRS="/nonexistent"),
            **{**pipes, **how})
        attempt = Attempt(who, process, kind, far)
        with self._lock:
            self._attempts[who] = attempt
        return attempt

    def finish(self, attempt, text=b"", patience=MOST):
        """Waits for its end. One that takes too long is a violation, and is killed."""
        try:
            out, err = attempt.process.communicate(text, timeout=patience)
        except subprocess.TimeoutExpired:
            self.violate(f"{attempt.who} ({' '.join(attempt.process.args[9:])}) has not ended after {patience:.0f} s")
            attempt.process.send_signal(signal.SIGCONT)
            attempt.process.kill()
            out, err = attempt.process.communicate()
        with self._lock:
            del self._attempts[attempt.who]
        ended = Ended(attempt.process.returncode, (out or b"").decode(errors="replace"),
                      (err or b"").decode(errors="replace"), attempt.struck)
        self.count(f"status {ended.status} of {attempt.kind}")
        if is_crash(ended):
            self.violate(f"{attempt.who} crashed: {ended.brief()}")
        return ended

    def zksh(self, who, kind, *words, text=b"", **how):
        return self.finish(self.start(who, kind, *words, **how), text)


class Actor(threading.Thread, abc.ABC):
    """A part of the load: `act`, again and again, until the world stops."""

    kind = "actor"
    pause = (0.2, 1.0)  # seconds, between two rounds

    def __init__(self, world, name, far):
        super().__init__(name=name, daemon=True)
        self.world, self.far = world, far
        self.random = world.random(name)
        self.number = 0

    def run(self):
        try:
            while not self.world.stopping.is_set():
                self.number += 1
                self.who = f"{self.name}#{self.number}"
                self.act()
                self.world.stopping.wait(self.random.uniform(*self.pause))
        except Exception as error:  # noqa: BLE001 - a test that is broken must not look like a good one
            self.world.violate(f"{self.name} failed: {type(error).__name__}: {error}")
            raise

    @abc.abstractmethod
    def act(self):
        """One round of the load."""

    def zksh(self, *words, **how):
        return self.world.zksh(self.who, self.kind, *words, far=self.far, **how)
