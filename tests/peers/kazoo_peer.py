#!/usr/bin/python3
"""Kazoo's recipes as a peer: Lock, WriteLock, ReadLock, Semaphore; README.md describes the command line."""
import logging
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock, ReadLock, Semaphore, WriteLock

SESSION_TIMEOUT = 10.0
# What a contender must be told to see the nodes of Curator, go-zookeeper and zksh.
EXTRA = {"mutex": ["lock-"], "write": ["__READ__", "__WRIT__"], "read": ["__WRIT__"]}
LOCKS = {"mutex": Lock, "write": WriteLock, "read": ReadLock}


class Renamed(Lock):
    """A lock whose nodes Curator orders rightly: it sorts by what follows the last `lock-`."""

    _NODE_NAME = "-lock-"


def new_lock(client, path, kind):
    name, _, variant = kind.partition("+")
    if name.startswith("semaphore:") and not variant:
        return Semaphore(client, path, max_leases=int(name.partition(":")[2]))
    if name in LOCKS and not variant:
        return LOCKS[name](client, path)
    if name in LOCKS and variant == "extra":
        return LOCKS[name](client, path, extra_lock_patterns=EXTRA[name])
    if kind == "mutex+renamed":
        return Renamed(client, path, extra_lock_patterns=EXTRA[name])
    raise ValueError(f"kazoo has no lock of kind {kind}")


def contend(lock, rounds, hold):
    """Time stamps of all rounds. A hold is a sleep: a loop would keep kazoo's own threads from running."""
    stamps = []
    now = time.monotonic_ns
    for _ in range(rounds):
        asked = now()
        lock.acquire()
        acquired = now()
        if hold:
            time.sleep(hold)
        releasing = now()
        lock.release()
        stamps.append((asked, acquired, releasing, now()))
    return stamps


def run(client, path, kind, rounds, hold, contenders):
    """The report of all contenders, one thread each."""
    reports, errors = [], []
    start = threading.Barrier(contenders)

    def contender(lock):
        try:
            start.wait()
            reports.append(contend(lock, rounds, hold))
        except Exception as error:  # pylint: disable=broad-except  # any error fails the run
            errors.append(error)

    threads = [threading.Thread(target=contender, args=(new_lock(client, path, kind),), daemon=True)
               for _ in range(contenders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return "".join("%d %d %d %d\n" % stamp for stamps in reports for stamp in stamps)


def converse(client, what):
    print("ready", flush=True)
    for line in sys.stdin:
        what = line.split()[1:] or what
        path, kind, rounds, hold_us, contenders = [*what, "1"][:5]
        sys.stdout.write(run(client, path, kind, int(rounds), int(hold_us) / 1e6, int(contenders)))
        print("done", flush=True)


def main(words):
    if not 5 <= len(words) <= 6:
        print("usage: kazoo_peer.py CONNECT PATH KIND ROUNDS HOLD_US [CONTENDERS]", file=sys.stderr)
        return 1
    logging.disable()
    client = KazooClient(hosts=words[0], timeout=SESSION_TIMEOUT)
    try:
        client.start()
        converse(client, words[1:])
        return 0
    except Exception as error:  # pylint: disable=broad-except
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    finally:
        client.stop()
        client.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
