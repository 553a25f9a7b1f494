"""Whole trees: an `apply` that is killed and repeated, and a `watch` whose events must be complete."""
import json
import os
import threading
import time

from outcome import EXPIRED, NO_CONNECTION
from world import Actor

APPLIED, WATCHED, GOAL, WALKED = "/f/applied", "/f/watched", "/f/goal", "/f/walked"
EXPLAINED = (0, 1, NO_CONNECTION, 4, 5, 6, 8, EXPIRED, 10)  # of an apply beside one that was killed


def dump_text(random, top):
    """What `dump` would write of some tree: about 300 nodes."""
    paths = [""]
    for _ in range(300):
        parent = random.choice(paths)
        paths.append(f"{parent}/n{random.randrange(1000)}" if parent.count("/") < 4 else f"/m{random.randrange(9999)}")
    lines = [f'/{path[1:]}\tpersistent\tworld:anyone:cdrwa\t"{random.randrange(10 ** 6)}"'
             for path in sorted(set(paths), key=lambda path: path.split("/"))]
    return "\n".join([f"zksh-tree\t1\t{top}", *lines, "end", ""])


class Applies(Actor):
    """Makes one tree of two, kills the one who does it, and lets the next one finish it."""

    kind = "apply"

    def act(self):
        text = dump_text(self.random, APPLIED)
        name = os.path.join(self.world.directory, f"{self.name}.tree")
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            self.apply(name)
            ended = self.again("dump", "dump", APPLIED)
            if ended.status == 0 and ended.out == text:
                self.world.count("trees applied and compared")
                return
            # What one that was killed had sent may come as long as its session lives.
            self.world.count("applied again, because of one that was killed")
            time.sleep(1)
        self.world.violate(f"{self.who}: apply never made the tree of {name}: {ended.brief()}")

    def apply(self, name):
        """Until it says that it is done."""
        status = None
        while status != 0:
            self.who = self.who.partition("/")[0] + f"/{time.monotonic_ns()}"
            attempt = self.world.start(self.who, self.kind, "apply", "--prune", "--yes", "--rate", "3000", name,
                                       far=self.far)
            # The killer takes its time from here on.
            timer = threading.Timer(self.random.uniform(0.01, 0.15), self.kill, [attempt])
            if self.random.random() < 0.4:
                timer.start()
            ended = self.world.finish(attempt)
            timer.cancel()
            status = ended.status
            if status not in EXPLAINED and not ended.struck:
                self.world.violate(f"{self.who}: {ended.brief()}")

    def again(self, *words):
        """A read; a lost connection is no news."""
        while True:
            self.who = self.who.partition("/")[0] + f"/{time.monotonic_ns()}"
            ended = self.world.zksh(self.who, words[0], *words[1:], far=self.far)
            if ended.status not in (NO_CONNECTION, EXPIRED):
                return ended

    def kill(self, attempt):
        attempt.struck = "killed"
        attempt.process.kill()
        self.world.count("apply killed")


class Watcher(threading.Thread):
    """Follows a subtree for the whole run; what it was told makes a tree, which must be the true one at last."""

    def __init__(self, world, name, far):
        super().__init__(name=name, daemon=True)
        self.world, self.far = world, far
        self.nodes = {}
        self.events = 0
        self.gaps = 0

    options = ("-d",)

    def run(self):
        attempt = self.world.start(self.name, "watch", "watch", "-R", *self.options, "-i", "-o", "json", WATCHED,
                                   far=self.far, stderr=open(self.file(), "wb"))
        for line in attempt.process.stdout:
            self.hear(json.loads(line))
        status = attempt.process.wait()
        if not attempt.struck:
            with open(self.file(), encoding="utf-8", errors="replace") as file:
                self.world.violate(f"{self.name} ended with status {status}: {file.read()[-600:]}")

    def hear(self, event):
        self.events += 1
        if event["type"] == "gap":
            self.gaps += 1
        elif event["type"] == "deleted":
            self.nodes.pop(event["path"], None)
        elif event["type"] in ("present", "created", "changed"):
            known = self.nodes.get(event["path"])
            if event["type"] == "changed" and known is None:
                self.world.violate(f"{self.name}: {event['path']} has changed, and was never there")
            self.nodes[event["path"]] = event["new"]

    def below(self, top):
        """What it knows, but for the top."""
        return {path: value for path, value in list(self.nodes.items()) if path != top}

    def agrees(self, top, wanted):
        return self.below(top) == wanted

    def stop(self):
        attempt = self.world.attempt(self.name)
        if attempt:
            attempt.struck = "killed"
            attempt.process.kill()

    def file(self):
        return os.path.join(self.world.directory, f"{self.name}.err")


class Hearer(Watcher):
    """Is told of each change as the server reports it (3.6). What was deleted during a gap has no name."""

    options = ()

    def __init__(self, world, name, far):
        super().__init__(world, name, far)
        self.doubtful = set()

    def hear(self, event):
        if event["type"] == "gap":
            self.doubtful |= set(self.nodes)
        self.doubtful.discard(event.get("path"))
        if event["type"] == "changed":  # it was there before its creation could be told
            self.nodes.setdefault(event["path"], "")
        super().hear({**event, "new": ""})

    def agrees(self, top, wanted):
        told = set(self.below(top))
        return set(wanted) <= told and told - set(wanted) <= self.doubtful


class Walker(Actor):
    """Reads a tree that nobody changes: whatever happens to its connection, it is whole, and in order."""

    kind = "walk"

    def __init__(self, world, name, far):
        super().__init__(world, name, far)
        self.nodes = [WALKED, *(f"{WALKED}/d{i}" for i in range(9)),
                      *(f"{WALKED}/d{i}/n{j:02}" for i in range(9) for j in range(40))]

    def prepare(self, znodes):
        for path in self.nodes:
            znodes.create(path, b"12345")

    def act(self):
        count = len(self.nodes)
        command, expected = self.random.choice([
            (("find", WALKED), "\n".join(sorted(self.nodes, key=lambda path: path.split("/"))) + "\n"),
            (("ls", "-R", WALKED), None), (("count", WALKED), f"{count}\n"),
            (("du", "-s", "-o", "plain", WALKED), f"{5 * count}\t{count}\t{WALKED}\n"),
            (("grep", "-c", "234", WALKED), None)])
        # So slow that faults come in the middle.
        ended = self.zksh(*command, "--rate", "300")
        if ended.status == 0:
            self.world.count("trees walked")
            wrong = ended.out != expected if expected else ended.out.count("\n") != count
        else:
            wrong = ended.status not in (NO_CONNECTION, EXPIRED) and not ended.struck
        if wrong:
            self.world.violate(f"{self.who}: {command}: {ended.brief()}")


class Changer(Actor):
    """Creates, sets and deletes what the watchers watch."""

    kind = "changer"

    def act(self):
        path = f"{WATCHED}/n{self.random.randrange(8)}"
        self.zksh(*self.random.choice([("create", path, f"{self.number}"), ("set", path, f"{self.number}"),
                                       ("set", path, f"{self.number}"), ("deleteall", path)]))


class Waiter(Actor):
    """`wait` for a value that another one writes: it ends when it is there."""

    kind = "wait"

    def act(self):
        path, me = f"{GOAL}-{self.name}", self.who
        attempt = self.world.start(me, "wait", "wait", "--value", f"^{self.number}$", path, far=self.far)
        time.sleep(self.random.uniform(0, 0.5))
        status = None
        while status != 0:
            self.who = f"{me}/{time.monotonic_ns()}"
            status = self.world.zksh(self.who, "set", "set", path, str(self.number)).status
        ended = self.world.finish(attempt)
        # 3: there was no quorum when it began.
        if ended.status not in (0, NO_CONNECTION):
            self.world.violate(f"{me}: {ended.brief()}")
        self.world.count("waits for a value")
