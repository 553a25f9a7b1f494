"""Measures the time from a key to its echo at the prompt, through a pty, while Tab makes zksh fetch candidates."""
import itertools
import re
import statistics
import time

from contest import Contestant
from terminal import Terminal
from znodes import Znodes

PATH = "/bench-keys"
# In no prompt, hint or name that is shown meanwhile. They take turns line by line, since nothing is drawn where the
# same character has stood before.
KEYS = (b"q", b"j")
KEYS_IN_A_LINE = 10


class Keyboard(Terminal):
    def __init__(self, words, environment):
        super().__init__(words, environment, columns=80, echo=True)  # readline echoes only where the terminal does
        self.keys = itertools.cycle(KEYS)

    def wait_for(self, text):
        """Reads until the program has drawn this."""
        self.read_until(re.escape(text), len(self.bytes))

    def echo(self, key):
        """Presses a key; the seconds until it is drawn."""
        self.drain()
        self.bytes = b""  # to add to many takes time
        start = time.perf_counter()
        self.type(key)
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
        terminal.type(b"\x15" + beginning + b"\t")
        times += [1000 * terminal.echo(key) for _ in range(min(KEYS_IN_A_LINE, count - len(times)))]
    return times


def keys(contest, server):
    """Keys echo at once: with many children in the current node, and with the server frozen."""
    count, samples, address = contest.options.nodes, contest.options.keys, server.address
    contest.time(Contestant("create", [contest.program("bare_multi"), address, "create", PATH, str(count)]))
    environment = {**contest.environment, "TERM": "xterm-256color", "INPUTRC": "/dev/null", "PS1": "$ "}
    environment.pop("NO_COLOR", None)
    rows = {}
    with Keyboard(["bash", "--norc", "-i"], environment) as bash:
        bash.wait_for(b"$ ")
        rows["bash (readline), no znodes"] = type_lines(bash, b"echo n", samples, lambda: None)
    with Keyboard([contest.options.zksh, "-s", address], environment) as zksh, Znodes(address) as others:
        zksh.wait_for(b"0] ")
        zksh.type(f"cd {PATH}\r".encode())
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
