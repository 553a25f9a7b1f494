"""Measures the time from a key to its echo at the prompt, through a pty, while Tab makes zksh fetch candidates."""
import fcntl
import itertools
import os
import pty
import select
import signal
import statistics
import struct
import termios
import time

from contest import Contestant
from znodes import Znodes

PATH = "/bench-keys"
# In no prompt, hint or name that is shown meanwhile. They take turns line by line, since nothing is drawn where the
# same character has stood before.
KEYS = (b"q", b"j")
KEYS_IN_A_LINE = 10
PATIENCE = 30.0


class Terminal:
    """A program on a pty of 80 columns and 24 rows."""

    def __init__(self, words, environment):
        self.keys = itertools.cycle(KEYS)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)

    def send(self, text):
        os.write(self.fd, text)

    def wait_for(self, text):
        """Reads until the program has drawn this."""
        drawn, end = b"", time.monotonic() + PATIENCE
        while text not in drawn:
            if not select.select([self.fd], [], [], max(0.0, end - time.monotonic()))[0]:
                raise SystemExit(f"{text!r} is not drawn, but {drawn[-500:]!r}")
            drawn = drawn[-len(text):] + os.read(self.fd, 65536)

    def drain(self):
        while select.select([self.fd], [], [], 0)[0]:
            os.read(self.fd, 65536)

    def echo(self, key):
        """Presses a key; the seconds until it is drawn."""
        self.drain()
        start = time.perf_counter()
        self.send(key)
        self.wait_for(key)
        return time.perf_counter() - start


def percentile(times, share):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def type_lines(terminal, beginning, count, before_tab):
    """Types lines of some keys behind a Tab, which is not waited for; the echoes' times in ms."""
    times = []
    while len(times) < count:
        before_tab()
        key = next(terminal.keys)
        terminal.send(b"\x15" + beginning + b"\t")
        times += [1000 * terminal.echo(key) for _ in range(min(KEYS_IN_A_LINE, count - len(times)))]
    return times


def keys(contest, server):
    """Keys echo at once: with many children in the current node, and with the server frozen."""
    count, samples, address = contest.options.nodes, contest.options.keys, server.address
    contest.time(Contestant("create", [contest.program("bare_multi"), address, "create", PATH, str(count)]))
    environment = {**contest.environment, "TERM": "xterm-256color", "INPUTRC": "/dev/null", "PS1": "$ "}
    environment.pop("NO_COLOR", None)
    rows = {}
    with Terminal(["bash", "--norc", "-i"], environment) as bash:
        bash.wait_for(b"$ ")
        rows["bash (readline), no znodes"] = type_lines(bash, b"echo n", samples, lambda: None)
    with Terminal([contest.options.zksh, "-s", address], environment) as zksh, Znodes(address) as others:
        zksh.wait_for(b"0] ")
        zksh.send(f"cd {PATH}\r".encode())
        zksh.wait_for(f"{PATH}] ".encode())

        def change_the_list():
            # What was fetched is old, so that each Tab fetches all the names again.
            others.create(PATH + "/another")
            others.delete(PATH + "/another")
        rows[f"zksh, {count} children"] = type_lines(zksh, b"get n", samples, change_the_list)
        change_the_list()
        server.freeze()
        try:
            rows["zksh, server frozen"] = type_lines(zksh, b"get n", samples, lambda: None)
        finally:
            server.thaw()
    print(f"keys: from a key to its echo on a pty, a Tab before every {KEYS_IN_A_LINE}th")
    for name, times in rows.items():
        print(f"  {name:<26}{statistics.median(times):9.2f} ms median{percentile(times, 0.99):9.2f} p99"
              f"{max(times):9.2f} max   n={len(times)}")
    bash, many, frozen = rows.values()
    contest.bound("p99 with many children, ms", percentile(many, 0.99), 20, at_most=True)
    contest.bound("p99 with the server frozen, ms", percentile(frozen, 0.99), 20, at_most=True)
    print(f"  {'median of zksh / bash':<52}{statistics.median(frozen) / statistics.median(bash):9.2f}")
