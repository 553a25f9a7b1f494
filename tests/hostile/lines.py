"""Runs random lines of the commands that wait, several at a time against one server, and judges the results.

    tests/hostile/lines.py [--lines N] [--seed N]    N lines; the first is made from the seed, the next from the seed + 1

Each third line is typed at a prompt. A line that waits is interrupted after a second, as by Ctrl-C. It must then end in time, like
any other line, with a status of its own: never by a signal, an assertion or an exception.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hostile import ends_within, is_unclean, take_terminal, terminal  # noqa: E402
from server import Server  # noqa: E402
from znodes import Znodes  # noqa: E402
from zksh import ZKSH  # noqa: E402

WAITS = 1.0  # seconds; a longer line waits
LIMIT = 60  # seconds that an interrupted line may take
ROOTS = 4
NOBODY = 65534
HOLDERS = ("lock", "rlock", "wlock", "rwlock", "semaphore", "multilock", "elect")
# More often than the others: what waits without an end.
COMMANDS = HOLDERS + 2 * ("watch", "lock", "wait", "contend", "fill", "locks") + (
    "addWatch", "fg", "get", "jobs", "kill", "latency", "ls", "repeat", "revoke", "stat", "sync", "unlock")
LEFT_OUT = {"--detach", "--help", "--admin-port"}  # a holder that outlives its line
NODES = ("/a", "/a/b", "/l", "/l2", "/none/x", "/", "a", "..", "/l/", "//", "/é", "/a b", "")
# What an option takes, as its help calls it; any of these may stand anywhere.
VALUES = {
    "count": ("0", "1", "2", "3", "-1", "1.5", "99999999999"),
    "time": ("300ms", "1s", "0s", "1h", "-1s", "x"),
    "format": ("plain", "json", "zkcli"),
    "recipe": ("fair", "herd", "exclusive"),
    "mode": ("write", "read", "exclusive", "PERSISTENT"),
    "names": ("all", "curator", "kazoo"),
    "regex": (".*", "x", "[", "("),
    "command": ("true", "exit 3", "echo x"),
    "text": ("me", "%1", ""),
}
VALUES |= dict.fromkeys(("number", "nodes", "depth", "size", "n", "status"), VALUES["count"])
ANY = tuple(dict.fromkeys(value for values in VALUES.values() for value in values)) + NODES
PROGRAMS = ("-- true", "-- sleep 5", "-- false", "-c 'exit 3'", "-- /none", "--", "-- sh -c 'kill -2 $$'")
ENDS = 8 * ("",) + (" &", " & wait /a", "; jobs", "; unlock --all", " | cat", "; fg")


def options_of(command):
    """Names, and what the help calls the value that follows; "" if none does."""
    said = subprocess.run([ZKSH, "help", "-o", "json", command], capture_output=True, check=True).stdout
    options = []
    for line in json.loads(said)["text"].splitlines():
        words = line.replace(",", "").split()
        if line.startswith("  -") and words[0] not in LEFT_OUT:
            names = [word for word in words if word.startswith("-") and word not in LEFT_OUT]
            options += [(name, "".join(words[len(names):])) for name in names if len(words) - len(names) < 2]
    return options


class Grammar:
    def __init__(self):
        self.options = {command: options_of(command) for command in dict.fromkeys(COMMANDS)}
        for command in HOLDERS:
            self.options[command] = self.options[command] + self.options["lock"]

    def command(self, chance):
        name = chance.choice(COMMANDS)
        words = [name]
        if name == "locks" and chance.random() < 0.7:
            words.append("-w")
        for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
            option, value = chance.choice(self.options[name])
            words.append(option)
            if value and chance.random() < 0.95:
                words.append(f"'{chance.choice(VALUES.get(value, ANY) if chance.random() < 0.8 else ANY)}'")
        if name == "wait" and chance.random() < 0.9:
            words.append(chance.choice(("--exists", "--gone", "-c 1", "-c 3", "-m x", "-m .")))
        if name in ("fg", "kill"):
            words.append("%1")
        elif name not in ("jobs", "latency", "repeat"):
            words += (f"'{chance.choice(NODES[:5] if chance.random() < 0.8 else NODES)}'" for _ in range(2 if name == "multilock" else 1))
        if name in ("rwlock", "semaphore") and chance.random() < 0.9:
            words.append(chance.choice(("write", "read") if name == "rwlock" else VALUES["count"]))
        elif chance.random() < 0.05:
            words.append(f"'{chance.choice(ANY)}'")
        if name in HOLDERS and chance.random() < 0.6:
            words.append(chance.choice(PROGRAMS))
        if name == "repeat":
            words += ["2", chance.choice(("get /a", "lock -w 1s /l -- true", "wait /none"))]
        if chance.random() < 0.05:
            chance.shuffle(words)
        return " ".join(words)

    def line(self, seed):
        chance = random.Random(seed)
        line = "; ".join(self.command(chance) for _ in range(chance.choice((1, 1, 1, 2)))) + chance.choice(ENDS)
        if chance.random() < 0.05:  # a typing error
            place = chance.randrange(len(line))
            line = line[:place] + chance.choice("'\"\\;&|$# ") + line[place + 1:]
        return line


@contextlib.contextmanager
def started(words, directory, out, typed):
    """zksh, and a function that interrupts it: at a prompt by Ctrl-C, and then it is to quit."""
    # A line can hold the name of a file to write.
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    how = {"cwd": directory, "env": {**os.environ, "HOME": directory, "TERM": "xterm", "PAGER": "cat"}, **user}
    if not typed:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **how) as process:
            yield process, lambda: process.send_signal(signal.SIGINT)
        return
    with terminal(typed, out, raw=False) as (given, write), \
            subprocess.Popen(words, stdin=given, stdout=given, stderr=given, start_new_session=True, preexec_fn=take_terminal,
                             **how) as process:
        yield process, lambda: write(b"\x03quit\nquit\n")


def play(program, line, server, directory, at_prompt):
    """Whether a line was interrupted, and what is wrong with it; None: nothing. At a prompt each is."""
    words = [program, "-s", server, "-t", "4000", "--connect-timeout", "3s", *(() if at_prompt else ("-c", line))]
    with tempfile.TemporaryFile() as out:
        with started(words, directory, out, line.encode() + b"\n" if at_prompt else b"") as (process, interrupt):
            waits = not ends_within(process, WAITS)
            if waits:
                interrupt()
            # It may have ended before the signal, which reaps it then.
            ended = process.returncode is not None or ends_within(process, LIMIT)
            if not ended:
                process.kill()
            status = process.wait()
        out.seek(0)
        said = out.read(1 << 20)
    at_once = waits and status == -signal.SIGINT and not said  # on a busy machine, before zksh had begun
    fault = not ended or is_unclean(said) or not (0 <= status <= 130 or at_once)
    return waits, f"{line!r}: {'status ' + str(status) if ended else 'no end'}, {said[-1000:]!r}" if fault else None


def play_all(seeds):
    """How many of the lines of these seeds were interrupted, and the faults of all."""
    # In the background it may be ignored, and would be in zksh.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    grammar = Grammar()
    with Server({"tickTime": "500", "maxClientCnxns": "0"}) as server, tempfile.TemporaryDirectory() as directory, \
            tempfile.TemporaryDirectory() as of_program:
        os.chmod(directory, 0o777)
        # Nobody may be allowed to see this checkout.
        os.chmod(of_program, 0o755)
        program = shutil.copy(ZKSH, of_program)
        znodes = Znodes(server.address)
        for root in range(ROOTS):
            for path in ("", "/a", "/a/b", "/l"):
                znodes.create(f"/f{root}{path}")
        znodes.connection.close()

        def one(seed):
            waits, fault = play(program, grammar.line(seed), f"{server.address}/f{seed % ROOTS}", directory, seed % 3 == 0)
            return waits, fault and f"seed {seed}: {fault}"
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            done = list(pool.map(one, seeds))
        return sum(waits for waits, _ in done), [fault for _, fault in done if fault]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    waited, found = play_all(range(options.seed, options.seed + options.lines))
    print("\n".join([*found, f"{options.lines} lines, {waited} of them interrupted: {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
