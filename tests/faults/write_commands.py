"""Every command that writes to nodes, in rounds: what it says of its outcome is compared with what the servers have."""
import collections
import contextlib
import dataclasses
import os
import random
import struct
import threading
import time
import typing

from network import MUTED, OPEN
from outcome import EXPIRED, FAILED, NO_CONNECTION, OK, UNKNOWN, of_status
from waiting import wait_until
from world import Actor
from znodes import NO_NODE, ZnodeError, Znodes

TOP, SYNCED = "/f/commands", "/f/synced"
QUOTA = "/zookeeper/quota"
TREE = {f"t{branch}{leaf}": f"value of {branch}{leaf}" for branch in ("", *(f"/b{i}" for i in range(8)))
        for leaf in ("", *(f"/n{i}" for i in range(8))) if branch or not leaf}
NO_NODE_STATUS = 4
MOST_PAST = 5  # times in a row: a member that is behind catches up
PATIENCE = 60.0  # seconds, for a server that answers
LOSE_ANSWERS = 0.6  # the part of the runs whose answers are lost for a while
MOMENT, LONG_TREE = 0.015, 0.4  # seconds, in which one request, or those of a tree, are sent


def moved(tree, source, target):
    return {target + path.removeprefix(source): value for path, value in tree.items()}


def read_values(znodes, root):
    """Everything below the root: path from there → value."""
    values = {}

    def visit(path):
        for name in znodes.children(f"{root}/{path}".rstrip("/")):
            below = f"{path}/{name}".lstrip("/")
            # A command that was killed may still be deleting.
            with contextlib.suppress(ZnodeError):
                values[below] = (znodes.get(f"{root}/{below}") or b"").decode()
                visit(below)

    visit("")
    return values


def read_versions(znodes, root):
    return {name: znodes.version(f"{root}/{name}") for name in znodes.children(root)}


def read_permissions(znodes, root):
    return {path: znodes.permissions(f"{root}/{path}") for path in read_values(znodes, root)}


def read_limits(znodes, root):
    """Only whether there is the limit of five nodes."""
    try:
        return {"n": b"count=5" in znodes.get(f"{QUOTA}{root}/n/zookeeper_limits")}
    except ZnodeError as error:
        if error.code != NO_NODE:
            raise
        return {"n": False}


@dataclasses.dataclass
class Command:
    """`words` of a root; `before`, `after`: what is below the root, as `read` reads it. `whole`: one request, done or not
    done; of others, each node is in its state before or in that after. `again`: the statuses that are success when
    the command is repeated until it succeeds; empty: it cannot be repeated."""
    words: typing.Callable
    nodes: dict
    after: dict
    whole: bool = True
    again: tuple = ()
    read: typing.Callable = read_values
    before: dict = None
    text: str = ""
    has_quota: bool = False  # the node n has the limit of five nodes before

    def __post_init__(self):
        self.before = self.nodes if self.before is None else self.before

    def prepare(self, znodes, root):
        """May be called again."""
        znodes.ensure(root)
        for path, value in self.nodes.items():
            znodes.ensure(f"{root}/{path}", value.encode())
        if self.has_quota:
            parts = f"{QUOTA}{root}/n".split("/")
            for i in range(4, len(parts) + 1):
                znodes.ensure("/".join(parts[:i]))
            znodes.ensure(f"{QUOTA}{root}/n/zookeeper_limits", b"count=5,bytes=-1")
            znodes.ensure(f"{QUOTA}{root}/n/zookeeper_stats", b"count=1,bytes=1")

    def fault(self, outcome, found):
        """What is wrong if there is this after that outcome; None: nothing."""
        if outcome == OK:
            return None if found == self.after else "was acknowledged and is not done"
        if self.whole:
            good = [self.before, self.after] if outcome == UNKNOWN else [self.before]
            return None if found in good else f"was {outcome}, and is done in part or wrongly"
        for path in {*found, *self.before, *self.after}:
            if found.get(path) not in (self.before.get(path), self.after.get(path)):
                return f"was {outcome}, and {path} is neither old nor new"
        kept = {*self.before.values()} & {*self.after.values()}
        return None if kept <= {*found.values()} else f"was {outcome}, and a value is lost"


ONE = {"n": "5"}
FULL, READ_ONLY = 31, 17  # bits of permissions
COMMANDS = {
    "create": Command(lambda root: ("create", f"{root}/n", "5"), {}, ONE),
    "create -s": Command(lambda root: ("create", "-s", f"{root}/q-", "5"), {}, {"q-0000000000": "5"}),
    "create -p": Command(lambda root: ("create", "-p", f"{root}/a/b/c/d", "5"), {},
                         {"a": "", "a/b": "", "a/b/c": "", "a/b/c/d": "5"}, whole=False),
    "set": Command(lambda root: ("set", f"{root}/n", "6"), ONE, {"n": "6"}),
    "set -v": Command(lambda root: ("set", "-v", "0", f"{root}/n", "6"), ONE, {"n": "6"}),
    "set --if-value": Command(lambda root: ("set", "--if-value", "5", f"{root}/n", "6"), ONE, {"n": "6"}),
    "incr": Command(lambda root: ("incr", f"{root}/n", "7"), ONE, {"n": "12"}),
    "touch": Command(lambda root: ("touch", f"{root}/n"), ONE, {"n": 1}, read=read_versions, before={"n": 0}),
    "edit": Command(lambda root: ("edit", f"{root}/n"), ONE, {"n": "6"}),
    "delete": Command(lambda root: ("delete", "-v", "0", f"{root}/n"), ONE, {}),
    "deleteall": Command(lambda root: ("deleteall", "--yes", "--rate", "400", f"{root}/t"), TREE, {}, whole=False,
                         again=(0, 4)),
    "setAcl": Command(lambda root: ("setAcl", f"{root}/n", "world:anyone:ra"), ONE, {"n": READ_ONLY},
                      read=read_permissions, before={"n": FULL}),
    "setAcl -R": Command(lambda root: ("setAcl", "-R", "--rate", "400", f"{root}/t", "world:anyone:cdra"), TREE,
                         dict.fromkeys(TREE, FULL & ~2), whole=False, again=(0,), read=read_permissions,
                         before=dict.fromkeys(TREE, FULL)),
    "cp -r": Command(lambda root: ("cp", "-r", "--rate", "400", f"{root}/t", f"{root}/u"), TREE,
                     {**TREE, **moved(TREE, "t", "u")}, whole=False),
    "mv": Command(lambda root: ("mv", f"{root}/t", f"{root}/u"), TREE, moved(TREE, "t", "u")),
    "mv --in-parts": Command(lambda root: ("mv", "--in-parts", "--rate", "400", f"{root}/t", f"{root}/u"), TREE,
                             moved(TREE, "t", "u"), whole=False),
    "multi": Command(lambda root: ("multi", f"create {root}/m 1", f"set {root}/n 6", f"delete {root}/o"),
                     {"n": "5", "o": "5"}, {"m": "1", "n": "6"}),
    "import": Command(lambda root: ("import", "--rate", "400", "FILES", f"{root}/t"), {"t": "old", "t/b1": "old"}, TREE,
                      whole=False, again=(0,)),
    "fill": Command(lambda root: ("fill", "-n", "60", "-s", "0", "--rate", "400", f"{root}/t"), {},
                    {"t": "", **{f"t/n{i:07}": "" for i in range(60)}}, whole=False, again=(0,)),
    "apply": Command(lambda root: ("apply", "--prune", "--yes", "--rate", "400", "--to", f"{root}/t", "DUMP"),
                     {"t": "old", "t/b1": "old", "t/x": "", "t/x/y": ""}, TREE, whole=False, again=(0,)),
    "setquota": Command(lambda root: ("setquota", "-n", "5", f"{root}/n"), ONE, {"n": True}, whole=False, again=(0,),
                        read=read_limits, before={"n": False}),
    "delquota": Command(lambda root: ("delquota", f"{root}/n"), ONE, {"n": False}, whole=False, again=(0, 4),
                        read=read_limits, before={"n": True}, has_quota=True),
    "exec": Command(lambda root: ("-f", "-"), ONE, {"m": "1", "n": "6"},
                    text="multi\ncreate ROOT/m 1\nset ROOT/n 6\nexec\n"),
}


class Servers:
    """Reads and writes on whichever server answers. From any thread."""

    def __init__(self, addresses):
        self.addresses = addresses.split(",")

    def ask(self, work):
        """What `work` returns, which may be called more than once; it sees all that was written before."""
        answers = []

        def answered():
            try:
                with Znodes(random.choice(self.addresses), timeout=3) as znodes:
                    znodes.set(SYNCED, b"")  # a read alone may be of the past
                    answers.append(work(znodes))
                    return True
            except (OSError, struct.error):
                return False

        wait_until(answered, PATIENCE)
        return answers[0]


class Rounds:
    """Which command is next, and what came of each. From any thread."""

    def __init__(self, servers):
        self.servers = servers
        self._lock = threading.Lock()
        self._begun = dict.fromkeys(COMMANDS, 0)
        self.done = collections.Counter()
        self._failed = []  # (root, command): nothing must come later

    def begin(self):
        with self._lock:
            name = min(self._begun, key=self._begun.get)
            self._begun[name] += 1
            return name, f"{TOP}/{name.replace(' ', '')}-{self._begun[name]}"

    def end(self, name):
        with self._lock:
            self.done[name] += 1

    def least(self):
        with self._lock:
            return min(self.done[name] for name in COMMANDS)

    def failed(self, root, command):
        with self._lock:
            self._failed.append((root, command))

    def violations(self):
        """At the end: what was said to have failed has not happened since."""
        for root, command in self._failed:
            found = self.servers.ask(lambda znodes, at=root, read=command.read: read(znodes, at))
            if found != command.before:
                yield f"{root}: said to have failed, done later: {found}"


class Commands(Actor):
    """One command after the other, each on nodes of its own. Most lose answers: their links to the servers drop
    them for a while, and then the connection."""

    kind = "command"
    pause = (0.0, 0.1)

    def __init__(self, world, name, cluster, rounds):
        super().__init__(world, name, True)
        self.rounds = rounds
        self.network = cluster.network
        self.links = [self.network.link(server.port) for server in cluster.servers]
        self.files = os.path.join(world.directory, f"{name}.d")
        self.dump = os.path.join(world.directory, f"{name}.dump")
        self.past = 0
        self._write_files()
        self._write_dump()

    def act(self):
        name, root = self.rounds.begin()
        command = COMMANDS[name]
        self.rounds.servers.ask(lambda znodes: command.prepare(znodes, root))
        outcome = self._run(name, root, command)
        while command.again and outcome != OK and not self.world.violations:
            outcome = self._run(name, root, command)
        if outcome == FAILED and command.whole:
            self.rounds.failed(root, command)
        else:
            self.rounds.servers.ask(lambda znodes: znodes.delete_tree(root))
        self.rounds.end(name)

    def _run(self, name, root, command):
        """Once; compares what it says with what there is, and returns that."""
        self.who = f"{root}/{time.monotonic_ns()}"
        words = [{"FILES": self.files, "DUMP": self.dump}.get(word, word) for word in command.words(root)]
        attempt = self.world.start(self.who, self.kind, *words,
                                   servers=",".join(f"127.0.0.1:{link.port}" for link in self.links))
        if self.random.random() < LOSE_ANSWERS:
            delay = self.random.uniform(0, MOMENT if command.whole else LONG_TREE)
            threading.Thread(target=self._lose_answers, args=(delay, self.random.uniform(0.02, 0.2))).start()
        ended = self.world.finish(attempt, command.text.replace("ROOT", root).encode())
        outcome = OK if ended.status in (command.again or (0,)) else of_status(ended.status)
        found = self.rounds.servers.ask(lambda znodes: command.read(znodes, root))
        # A member that is behind has nothing there yet, and a new session may see that.
        self.past = self.past + 1 if ended.status == NO_NODE_STATUS in command.again and found != command.after else 0
        if self.past > 0:
            outcome = UNKNOWN
            self.world.count("commands that saw the past")
        self.world.count(f"{name}: {outcome}")
        self.world.count(f"commands {outcome}")
        fault = command.fault(outcome, found) if self.past <= MOST_PAST else "never saw what all members have by now"
        if outcome == FAILED and ended.status not in (NO_CONNECTION, EXPIRED):
            fault = "failed for no fault"
        if fault:
            self.world.violate(f"{root}: {name} {fault}: {found}; {ended.brief()}")
        return outcome

    def _lose_answers(self, delay, length):
        # Times of the seed's: how far the command is by then is the machine's affair.
        self.world.stopping.wait(delay)
        self.network.set(self.links, MUTED)
        self.world.stopping.wait(length)
        self.network.cut(self.links)
        self.network.set(self.links, OPEN)

    def _write_files(self):
        for path, value in TREE.items():
            directory = os.path.join(self.files, path.partition("/")[2])
            os.makedirs(directory, exist_ok=True)
            with open(os.path.join(directory, ".value"), "w", encoding="ascii") as file:
                file.write(value)

    def _write_dump(self):
        lines = [f'/{path.partition("/")[2]}\tpersistent\tworld:anyone:cdrwa\t"{value}"' for path, value in TREE.items()]
        with open(self.dump, "w", encoding="ascii") as file:
            file.write("\n".join([f"zksh-tree\t1\t{TOP}", *lines, "end", ""]))
