#!/usr/bin/python3
"""Kazoo's recipes as a peer: Lock, WriteLock, ReadLock, Semaphore; README.md describes the command line."""
import logging
import os
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


def converse(client, what, orders, report):
    print("ready", file=report, flush=True)
    for line in orders:
        what = line.split()[1:] or what
        path, kind, rounds, hold_us, contenders = [*what, "1"][:5]
        report.write(run(client, path, kind, int(rounds), int(hold_us) / 1e6, int(contenders)))
        print("done", file=report, flush=True)


def serve(connect, what, orders, report):
    """One session's conversation; the exit status of the process."""
    logging.disable()
    client = KazooClient(hosts=connect, timeout=SESSION_TIMEOUT)
    try:
        client.start()
        converse(client, what, orders, report)
        return 0
    except Exception as error:  # pylint: disable=broad-except
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    finally:
        client.stop()
        client.close()


class Child:
    """A forked process with a session of its own, which its parent talks to through pipes."""

    def __init__(self, connect, what, elder):
        orders, self.orders = [os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw")]
        self.report, report = [os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw")]
        self.pid = os.fork()
        if self.pid == 0:
            for sibling in [self, *elder]:  # each ends when the parent alone lets go of its pipe
                sibling.orders.close()
            os._exit(serve(connect, what, orders, report))
        orders.close()
        report.close()

    def tell(self, line):
        self.orders.write(line + "\n")
        self.orders.flush()

    def lines_until(self, last):
        while (line := self.report.readline()) != last + "\n":
            if not line:
                raise EOFError
            yield line

    def end(self):
        """Its status."""
        self.orders.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def share(contenders, sessions, number):
    """How many contenders the session with that number, from 0, has."""
    return (contenders - number + sessions - 1) // sessions


def spread(connect, what, sessions):
    """The conversation of a process for each session; the exit status."""
    children = []
    for _ in range(sessions):
        children.append(Child(connect, what, children))
    try:
        for child in children:
            list(child.lines_until("ready"))
        print("ready", flush=True)
        for line in sys.stdin:
            what = line.split()[1:] or what
            busy = [(child, count) for number, child in enumerate(children)
                    if (count := share(int([*what, "1"][4]), sessions, number))]
            for child, count in busy:
                child.tell(" ".join(["go", *what[:4], str(count)]))
            for child, _ in busy:
                sys.stdout.writelines(child.lines_until("done"))
            print("done", flush=True)
    except EOFError:
        pass  # the child has said why, and its status is not 0
    return max(child.end() for child in children)


def main(words):
    if not 5 <= len(words) <= 7:
        print("usage: kazoo_peer.py CONNECT PATH KIND ROUNDS HOLD_US [CONTENDERS [SESSIONS]]",
              file=sys.stderr)
        return 1
    if len(words) > 6 and int(words[6]) > 1:
        return spread(words[0], words[1:], int(words[6]))
    return serve(words[0], words[1:], sys.stdin, sys.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
