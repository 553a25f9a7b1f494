"""Builds and runs the programs beside this file, from Debian's packages alone; README.md describes them."""
import collections
import fcntl
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import die_with_parent  # noqa: E402

JARS = [f"/usr/share/java/{name}.jar" for name in
        ("curator-recipes", "zookeeper", "zookeeper-recipes-lock", "slf4j-nop")]
GO_LIBRARIES = "/usr/share/gocode"
JAVA_CLASSES = {"curator": "Curator", "writelock": "JavaWriteLock"}
NAMES = ("curator", "kazoo", "go", "writelock")
QUICK_START = ["-XX:TieredStopAtLevel=1"]

# A turn with the lock, in ns of CLOCK_MONOTONIC: held from `acquired` to `releasing` at least.
Round = collections.namedtuple("Round", "asked acquired releasing released")


class PeerError(Exception):
    """A peer cannot be built, failed, or did not answer in time."""


def build(directory):
    """Compiles what changed since the last time. Tests that run at the same time may call it."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        java = sorted(HERE.glob("*.java"))
        _make(directory / "java", java,
              ["javac", "-Xlint:all,-path", "-Werror", "-cp", ":".join(JARS), "-d", directory / "java", *java])
        go = HERE / "go_peer.go"
        # GOPATH mode: Debian keeps the sources of Go's libraries where this finds them.
        _make(directory / "go_peer", [go], ["go", "build", "-o", directory / "go_peer", go],
              {"GO111MODULE": "off", "GOPATH": GO_LIBRARIES, "GOFLAGS": "",
               "GOCACHE": str(directory / "go-cache"), "XDG_CONFIG_HOME": str(directory)})


def _make(target, sources, words, environment=None):
    done = target.with_suffix(".built")
    if done.exists() and all(path.stat().st_mtime <= done.stat().st_mtime for path in sources):
        return
    if not shutil.which(words[0]):
        raise PeerError(f"{words[0]} is missing: tests/run.sh installs it")
    outcome = subprocess.run(words, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if outcome.returncode:
        raise PeerError(f"{words[0]} failed:\n{outcome.stdout.decode(errors='replace')}")
    done.touch()


def command(name, directory, quick_start=False):
    """The words before CONNECT of a peer that was built in `directory`.

    quick_start compiles Java only superficially: sooner warm, in the end slower.
    """
    directory = pathlib.Path(directory)
    if name == "kazoo":
        return [sys.executable, "-B", str(HERE / "kazoo_peer.py")]
    if name == "go":
        return [str(directory / "go_peer")]
    return ["java", *(QUICK_START if quick_start else []), "-cp", ":".join([str(directory / "java"), *JARS]),
            JAVA_CLASSES[name]]


class Program:
    """A running program that says `ready`, starts at a line, and prints rounds: a peer, or `contend --report`."""

    def __init__(self, words):
        self._complaints = tempfile.TemporaryFile()
        self._lines = collections.deque([b""])  # the last one is not complete
        self.process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._complaints, preexec_fn=die_with_parent)

    def await_ready(self):
        line = self._line(time.monotonic() + 60)
        if line != "ready":
            raise PeerError(self._failure(f"it said {line!r} and not `ready`"))

    def tell(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise PeerError(self._failure("it is gone")) from None

    def finish(self, deadline=120.0):
        """The rounds of a run, until `done` or the end of a program that ends with status 0."""
        until = time.monotonic() + deadline
        rounds = []
        while (line := self._line(until)) not in (None, "done"):
            rounds.append(Round(*map(int, line.split())))
        if line is None and self.process.wait(max(0.1, until - time.monotonic())) != 0:
            raise PeerError(self._failure("it failed"))
        return rounds

    def close(self):
        """Lets it close its session; ends it when it does not."""
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
                self.process.wait(10)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self._complaints):
            try:
                file.close()
            except BrokenPipeError:
                pass

    def _line(self, until):
        """The next line of its output; None at the end."""
        while len(self._lines) < 2:
            if not select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                failure = self._failure("it did not answer in time")
                self.process.send_signal(signal.SIGKILL)
                raise PeerError(failure)
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                return None
            self._lines.extend((self._lines.pop() + chunk).split(b"\n"))
        return self._lines.popleft().decode()

    def _failure(self, what):
        self._complaints.seek(0)
        complaints = self._complaints.read().decode(errors="replace")
        return f"{' '.join(map(str, self.process.args))}: {what}\n{complaints}"


class Peer(Program):
    """A running peer, connected and ready."""

    def __init__(self, words, connect, path="/", kind="mutex", rounds=1, hold_us=0, contenders=1,
                 sessions=1):
        super().__init__([*words, connect, path, kind, rounds, hold_us, contenders, sessions])
        try:
            self.await_ready()
        except PeerError:
            self.close()
            raise

    def start(self, *what):
        """Starts a run, of something else when told: path, kind, rounds, hold_us, contenders."""
        self.tell(" ".join(["go", *map(str, what)]))
