"""Benches of whole processes, from their start to their end: one value, a large tree, a program under a lock."""
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
    zksh_ls = Contestant("zksh -c 'ls /big'", [contest.options.zksh, "-server", address, "-c", "ls /big"])
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


def process(contest, server):
    """A program under a lock: the time from the start of `zksh lock` to its end."""
    path, address = "/bench-process", server.address
    with Znodes(address) as znodes:
        znodes.create(path)
    zksh = Contestant("zksh lock /p -- true", [contest.options.zksh, "-server", address, "lock", path, "--",
                                               "true"])
    bare = Contestant("bare C client", [contest.program("bare_lock"), address, path])
    for number in range(contest.options.rounds + 1):
        for contestant in (bare, zksh) if number % 2 else (zksh, bare):
            contest.time(contestant)
        if number == 0:  # the server's and the kernel's caches
            zksh.times.clear()
            bare.times.clear()
    with Znodes(address) as znodes:
        if left := znodes.children(path):
            raise SystemExit(f"left behind: {left}")
    print("process: connect, take a free lock, run `true` (the bare client does not), close")
    print(f"{bare}\n{zksh}")
    contest.bound("time of zksh lock / bare client", zksh.median / bare.median, 1.5, at_most=True)
    print(f"  {'the same of the fastest runs of each':<52}{min(zksh.times) / min(bare.times):9.2f}")
