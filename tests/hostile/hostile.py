"""Runs zksh in all its ways of use against the modes of modes.py, and judges the results.

    tests/hostile/hostile.py [--minutes N] [--seed N] [--tls]   every mode in every use, then random changes of good answers
    tests/hostile/hostile.py --changes N [--seed N]     so many conversations with random changes; --seed: the first

A run ends within its time and memory, is never ended by a signal, and has a status that says the truth: without an answer to
it, no request has succeeded.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import fcntl
import os
import pathlib
import pty
import random
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty

import modes
from broken_server import BrokenServer
from waiting import readable
from zksh import ZKSH

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tls"))
from certificates import Authority  # noqa: E402

LIMIT = 75  # seconds: dump waits 10 for the server to come back, with a long session timeout 60
CHANGED_LIMIT = 150  # changed answers may make progress for a while, and then none for a minute
MEMORY = 300 << 10  # KiB; under a sanitizer it is more
SERVER_SAYS = {1, 4, 5, 6, 7, 8, 9, 11, 12}  # what may come of an error's code
STATUSES = {3, 10} | SERVER_SAYS


@dataclasses.dataclass(frozen=True)
class Use:
    words: tuple
    text: bytes = b""
    done: bytes = b"\0"  # stdout has this only when a request was answered; stderr has Created then
    also: frozenset = frozenset()  # statuses that only this use may have
    typed: bool = False  # the text is typed on a terminal
    endless: bool = False  # it waits for what may never come, once it was answered: it is ended from here


@dataclasses.dataclass
class Tls:
    """What servers and zksh talk TLS with; nothing: they talk without."""
    context: ssl.SSLContext | None = None
    options: tuple = ()

    def use(self, directory):
        """`directory`: for the certificates."""
        authority = Authority(directory, "authority")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(authority.issue("server"))
        self.options = ("--tls-ca", authority.certificate)


TLS = Tls()
LINES = b"create /a x\nset /a y\nmulti 'create /a x' 'set /a y'\nget /a\n"
USES = {
    "get": Use(("get", "/a"), done=b"\n"),
    "script": Use((), LINES),
    "--pipe": Use(("--pipe",), b"create /a x\nset /a y\nget /a\n" * 3),
    "prompt": Use((), b"get /a\n" + LINES + b"ls -w /\nquit\n", done=b"Created", also=frozenset({0}), typed=True),
    "watch": Use(("-c", "watch -i -n 1 /a"), also=frozenset({0}), endless=True),  # it tells of the gap
    # Two seconds without a connection that lasts: it was not its turn in time.
    "lock": Use(("lock", "-w", "2s", "/l", "--", "echo", "held"), done=b"held", also=frozenset({75})),
    "contend": Use(("contend", "-n", "3", "-w", "2s", "/l/c"), done=b"acquisitions", also=frozenset({75})),
    "ls -R": Use(("ls", "-R", "/")),
    "dump": Use(("dump", "/")),
}
# Of changed conversations alone: what comes of a mode in these, it does in those.
MORE_USES = {
    "wait": Use(("wait", "-t", "2s", "--gone", "/a"), also=frozenset({0, 124})),
    "watch -R": Use(("watch", "-R", "--data", "-t", "3s", "/"), also=frozenset({0, 124})),
    "fill": Use(("fill", "-n", "50", "/f"), also=frozenset({0})),
    "locks -w": Use(("locks", "-w", "/l"), also=frozenset({0}), endless=True),
    "locks -r": Use(("locks", "-r", "/"), also=frozenset({0})),
    "du": Use(("du", "/"), also=frozenset({0})),
    "cp -r": Use(("cp", "-r", "/a", "/b"), also=frozenset({0})),
    "rmr": Use(("-c", "rmr /a"), also=frozenset({0})),
    "health": Use(("health",), also=frozenset({0})),
    "multilock": Use(("multilock", "-w", "2s", "/l", "/m", "--", "echo", "held"), also=frozenset({0, 75, 76})),
}


def ends_within(process, seconds):
    """Whether a process ends in that time; it is not reaped."""
    pid = os.pidfd_open(process.pid)
    try:
        return readable(pid, seconds)
    finally:
        os.close(pid)


@contextlib.contextmanager
def terminal(text, out, raw=True):
    """A terminal on which a text is typed, and a function that types more; what is shown there goes into a file."""
    master, slave = pty.openpty()
    if raw:
        tty.setraw(slave, termios.TCSANOW)

    def show():
        with contextlib.suppress(OSError):  # the last process has closed it
            while shown := os.read(master, 1 << 16):
                out.write(shown)

    reader = threading.Thread(target=show, daemon=True)
    reader.start()
    os.write(master, text)
    try:
        yield slave, lambda more: os.write(master, more)
    finally:
        os.close(slave)
        reader.join()
        os.close(master)


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def with_version(behave):
    """That server, of a version that can read many nodes at once."""
    def answers_word(c):
        if c.peek(4) == b"srvr":
            c.read(4)
            return c.send(b"Zookeeper version: 3.8.0-hostile\n")
        return behave(c)
    return answers_word


def run(behave, use, limit=LIMIT):
    """Status (None: it had to be ended), stdout, stderr, seconds, KiB."""
    with BrokenServer(with_version(behave), TLS.context) as server, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, \
            tempfile.TemporaryFile() as text:
        text.write(use.text)
        text.seek(0)
        begin = time.monotonic()
        with terminal(use.text, out) if use.typed else contextlib.nullcontext((text, None)) as (given, _):
            process = subprocess.Popen([ZKSH, "-s", server.address, "-t", "1000", "--connect-timeout", "1s", *TLS.options, *use.words],
                                       stdin=given, stdout=given if use.typed else out, stderr=err,
                                       start_new_session=use.typed, preexec_fn=take_terminal if use.typed else None)
            ended = not ends_within(process, limit)
            if ended:
                os.kill(process.pid, signal.SIGKILL)  # Popen's own would take its status first
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (None if ended else process.returncode, out.read(1 << 20), err.read(1 << 20),
                time.monotonic() - begin, used.ru_maxrss)


def is_unclean(err):
    """Whether it ended, or went on, by a fault of its own."""
    return any(word in err for word in (b"ssertion", b"terminate called", b"internal error", b"Sanitizer", b"runtime error"))


def fault(name, use_name, allowed):
    """What is wrong with a run; None: nothing."""
    use = USES[use_name]
    behave = modes.BROKEN.get(name) or modes.ODD[name]
    waits = name in modes.ODD and use.endless
    status, out, err, seconds, memory = run(behave, use, 5 if waits else LIMIT)
    what = f"{name} × {use_name}: status {status} after {seconds:.1f} s, {memory} KiB, {out[:200]!r} {err[-500:]!r}"
    if status is None and not waits:
        return "it does not end: " + what
    # A lock is refused where answers take too long for so short a session, as on a busy machine; an idle one takes 1 ms.
    slow = re.search(rb"answers take ([0-9.]+)(m?)s; a lock needs -t ", err)
    is_too_slow = status == 2 and slow and float(slow[1]) * (1 if slow[2] else 1000) >= 20
    if status is not None and status not in allowed and not is_too_slow:
        return "a status that cannot be: " + what
    if memory > MEMORY:
        return "too much memory: " + what
    if name in modes.BROKEN and (use.done in out or b"Created" in err):
        return "it claims what is not: " + what
    if is_unclean(err):
        return "it ends unclean: " + what
    return None


def statuses(name, use):
    return STATUSES | USES[use].also | ({0, 75, 76, 124} if name in modes.ODD else set())


def faults(play_one, plays, threads):
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return [found for found in pool.map(play_one, plays) if found]


def play(pairs):
    """The faults of (mode, use) pairs."""
    return faults(lambda pair: fault(*pair, statuses(*pair)), pairs, 32)


def mutated(seed):
    """A server whose good answers are changed at random places."""
    source = random.Random(seed)

    def behave(c):
        c.names = tuple(b"node%d" % number for number in range(20))
        c.hello()
        for part in range(1 << 30):
            if part:
                c.request()
            answer = bytearray(c.answer() if part else c.welcome(timeout=1500))
            for _ in range(source.choice((0, 0, 1, 1, 2, 5))):
                place = source.randrange(len(answer))
                answer[place] = source.choice((0, 1, 0x7f, 0x80, 0xff, source.randrange(256)))
            if source.randrange(8) == 0:
                del answer[source.randrange(len(answer)):]
            c.send(bytes(answer))
    return behave


def play_mutated(seed):
    uses = USES | MORE_USES
    use_name = random.Random(seed).choice(sorted(uses))
    use = uses[use_name]
    status, out, err, seconds, memory = run(mutated(seed), use, 10 if use.endless else CHANGED_LIMIT)
    endless = status is None and not use.endless
    if endless or is_unclean(err) or (status or 0) < 0 or status in (134, 139) or memory > 1 << 20:
        return f"seed {seed} × {use_name}: status {status} after {seconds:.1f} s, {memory} KiB, {out[:200]!r} {err[-500:]!r}"
    return None


def play_all_mutated(seeds):
    """The faults of these conversations."""
    return faults(play_mutated, seeds, 24)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--changes", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--tls", action="store_true", help="the servers talk TLS, and do that as they should")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if options.tls:
            TLS.use(directory)
        return play_everything(options)


def play_everything(options):
    until = time.monotonic() + options.minutes * 60
    print(f"seed {options.seed}", flush=True)
    if options.changes:
        found = play_all_mutated(range(options.seed, options.seed + options.changes))
        print("\n".join(found))
        return 1 if found else 0
    names = [*modes.BROKEN, *modes.ODD]
    found = play([(name, use) for name in names for use in USES])
    print(*found, f"{len(names)} modes × {len(USES)} uses: {len(found)} faults", sep="\n", flush=True)
    count, number = 0, len(found)
    while time.monotonic() < until:
        batch = range(options.seed + count, options.seed + count + 960)
        found = play_all_mutated(batch)
        count, number = count + len(batch), number + len(found)
        print(*found, f"{count} changed conversations: {number} faults in all", sep="\n", flush=True)
    return 1 if number else 0


if __name__ == "__main__":
    sys.exit(main())
