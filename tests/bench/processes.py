"""Benchmarks whole processes from start to end: one value, a large tree, a program under a lock."""
import os
import shlex

from contest import Contestant
from znodes import Znodes

ZKCLI = "/usr/share/zookeeper/bin/zkCli.sh"


def get(contest, server):
    """One value: the time from the program's start to its end."""
    rounds, address = contest.options.rounds, server.address
    value = b"a value of ordinary length"
    with Znodes(address) as znodes:
        znodes.create("/bench-get", value)
    zksh = Contestant("zksh -c 'get /a'", [contest.options.zksh, "-server", address, "-c",
                                           "get /bench-get"])
    bare = Contestant("bare C client", [contest.program("bare_get"), address, "/bench-get"])
    zkcli = Contestant("zkCli.sh get /a", [ZKCLI, "-server", address, "get", "/bench-get"])
    for contestant in (bare, zksh):  # the server's and the kernel's caches
        contest.time(contestant, value)
        contestant.times.clear()
    for number in range(rounds):
        for contestant in (bare, zksh) if number % 2 else (zksh, bare):
            contest.time(contestant, value + b"\n")
        if number % 5 == 0 and os.access(ZKCLI, os.X_OK):
            contest.time(zkcli, value)
    print("get: connect, read one value, close")
    print("\n".join(str(c) for c in (bare, zksh, zkcli) if c.times))
    contest.bound("time of zksh / bare client", zksh.median / bare.median, 1.25, at_most=True)
    print(f"  {'the same of the fastest runs of each':<52}{min(zksh.times) / min(bare.times):9.2f}")
    if zkcli.times:
        contest.bound("time of zkCli.sh / zksh", zkcli.median / zksh.median, 60, at_most=False)
    contest.bound("peak memory of zksh, MiB", zksh.memory, 12, at_most=True)


def tree(contest, server):
    """Many nodes under one parent: listing and removing them."""
    count, address = contest.options.nodes, server.address
    zksh_ls = Contestant("zksh -c 'ls /big'", [contest.options.zksh, "-server", address, "-c", "ls -o zkcli /big"])
    zksh_rmr = Contestant("zksh -c 'rmr /big'", [contest.options.zksh, "-server", address, "-c", "rmr /big"])
    bare = {what: Contestant(f"bare C client, {what}", [contest.program("bare_multi"), address, what, "/big"])
            for what in ("create", "list", "delete")}
    bare["create"].words.append(str(count))
    for number in range(contest.options.tree_rounds + 1):
        for remove in ((zksh_rmr, bare["delete"]) if number % 2 else (bare["delete"], zksh_rmr)):
            contest.time(bare["create"])
            listings = [contest.time(contestant) for contestant in (bare["list"], zksh_ls)]
            if listings[0] != listings[1] or listings[0].count(b"node-") != count:
                raise SystemExit(f"ls printed {listings[1][:200]!r}… instead of {listings[0][:200]!r}…")
            contest.time(remove)
            with Znodes(address) as znodes:
                if znodes.exists("/big"):
                    raise SystemExit(f"{shlex.join(remove.words)} left /big behind")
        if number == 0:  # the server's compiler needs a round
            for contestant in (zksh_ls, zksh_rmr, *bare.values()):
                contestant.times.clear()
    print(f"tree: {count} nodes under one parent")
    for contestant in (bare["create"], bare["list"], zksh_ls, bare["delete"], zksh_rmr):
        print(contestant)
    print(f"  {'removed per second, bare':<52}{count / bare['delete'].median * 1000:9.0f}")
    print(f"  {'removed per second, zksh':<52}{count / zksh_rmr.median * 1000:9.0f}")
    contest.bound("rate of rmr / bare client", bare["delete"].median / zksh_rmr.median, 0.5, at_most=False)
    contest.bound("peak memory of zksh ls, MiB", zksh_ls.memory, 64, at_most=True)
    contest.bound("peak memory of zksh rmr, MiB", zksh_rmr.memory, 64, at_most=True)


def mixed_lines(count):
    """Lines that create, read, write, look at and delete one node after the other, below /bench-pipe."""
    lines = ["create /bench-pipe"]
    for number in range((count - 2) // 5):
        path = f"/bench-pipe/n{number}"
        lines += [f"create {path} value-{number}", f"get {path}", f"set {path} other-{number}", f"stat {path}",
                  f"delete {path}"]
    return lines + ["delete /bench-pipe"]


def pipe(contest, server):
    """Mixed commands on standard input. zkCli.sh is given fewer lines: its start is taken off, the rest is scaled."""
    address, window = server.address, 256

    def fed(name, count, *words):
        path = os.path.join(contest.directory, f"lines-{count}")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in mixed_lines(count))
        return Contestant(name, words, stdin=path)

    count = contest.options.lines
    few = min(count, 2000)
    zksh = fed("zksh --pipe", count, contest.options.zksh, "-server", address, "--pipe", "--window", str(window))
    one_by_one = fed(f"zksh, {few} lines", few, contest.options.zksh, "-server", address)
    bare = fed("bare C client", count, contest.program("bare_pipe"), address, str(window))
    bare.words = (*bare.words, zksh.stdin)
    zkcli = [fed(f"zkCli.sh, {size} lines", size, ZKCLI, "-server", address) for size in (2, few)]
    for number in range(contest.options.pipe_rounds + 1):
        results = {}
        for contestant in (bare, zksh) if number % 2 else (zksh, bare):
            results[contestant.name] = [line for line in contest.time(contestant).splitlines()
                                        if line.startswith((b"value-", b"dataVersion"))]
        if results[bare.name] != results[zksh.name] or len(results[zksh.name]) != (count - 2) // 5 * 2:
            raise SystemExit(f"zksh printed {results[zksh.name][:10]!r}…")
        if number == 0:  # the server's compiler needs a round
            bare.times.clear()
            zksh.times.clear()
    contest.time(one_by_one)
    contestants = [bare, zksh, one_by_one]
    if os.access(ZKCLI, os.X_OK):
        for contestant in zkcli:
            contest.time(contestant)
        contestants += zkcli
    print(f"pipe: {count} mixed commands (create, get, set, stat, delete) on standard input, {window} in flight")
    print("\n".join(str(c) for c in contestants))
    print(f"  {'commands per second, zksh':<52}{count / zksh.median * 1000:9.0f}")
    contest.bound("rate of zksh --pipe / bare client", bare.median / zksh.median, 0.7, at_most=False)
    if zkcli[0].times:
        took = (zkcli[1].median - zkcli[0].median) / (few - 2) * count
        contest.bound("rate of zksh --pipe / zkCli.sh", took / zksh.median, 20, at_most=False)
    contest.bound("peak memory of zksh, MiB", zksh.memory, 32, at_most=True)


def process(contest, server):
    """A program under a lock: the time from the start of `zksh lock` to its end."""
    path, address = "/bench-process", server.address
    with Znodes(address) as znodes:
        znodes.create(path)
    zksh = Contestant("zksh lock /p -- true", [contest.options.zksh, "-server", address, "lock", path, "--",
                                               "true"])
    bare = Contestant("bare C client", [contest.program("bare_lock"), address, path])
    running = Contestant("bare C client, the same", [*bare.words, "true"])
    contestants = [bare, running, zksh]
    for number in range(contest.options.rounds + 1):
        for turn in range(len(contestants)):
            contest.time(contestants[(number + turn) % len(contestants)])
        if number == 0:  # the server's and the kernel's caches
            for contestant in contestants:
                contestant.times.clear()
    with Znodes(address) as znodes:
        if left := znodes.children(path):
            raise SystemExit(f"left behind: {left}")
    print("process: connect, take a free lock, run `true`, give it back, close (the first bare client only takes it)")
    print("\n".join(str(contestant) for contestant in contestants))
    contest.bound("time of zksh lock / bare client", zksh.median / bare.median, 1.9, at_most=True)
    print(f"  {'the same of the fastest runs of each':<52}{min(zksh.times) / min(bare.times):9.2f}")
    contest.bound("time of zksh lock / bare client that does the same", zksh.median / running.median, 1.35, at_most=True)
