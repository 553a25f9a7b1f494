"""Load: sessions that write all that a server logs, many requests in flight, so that snapshots are fuzzy."""
import pathlib
import random
import struct
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from znodes import OPEN_ACL, Znodes, pack_string  # noqa: E402

CREATE, DELETE, SET_DATA, SET_ACL, CHECK, MULTI, CREATE_CONTAINER, CREATE_TTL, CLOSE = 1, 2, 5, 7, 13, 14, 19, 21, -11
PERSISTENT, EPHEMERAL, SEQUENTIAL, CONTAINER, WITH_TTL = 0, 1, 2, 4, 5
FLAGS = {CREATE_CONTAINER: CONTAINER, CREATE_TTL: WITH_TTL}
PARENTS, NAMES, ACLS, IN_FLIGHT, QUOTAS = 40, 12, 60, 25, 3
SESSION = 4000  # ms


def acl(number):
    """Everybody may do everything, and somebody else, too: many different ones, which come and go."""
    if number == 0:
        return OPEN_ACL
    return struct.pack(">ii", 2, 31) + pack_string("world") + pack_string("anyone") + struct.pack(">i", 31) + \
        pack_string("ip") + pack_string(f"10.0.{number // 200}.{number % 200 + 1}")


class Writer(threading.Thread):
    """One session after another, each with requests that mostly succeed and sometimes do not."""

    def __init__(self, address, seed, modern, stop):
        super().__init__(daemon=True)
        self.address, self.modern, self.stop = address, modern, stop
        self.dice = random.Random(seed)
        self.name = f"w{seed}"
        self.requests = 0

    def run(self):
        try:
            while not self.stop.is_set():
                self.session()
        except (OSError, struct.error):  # the server was killed
            pass

    def session(self):
        znodes = Znodes(self.address, session_timeout=SESSION)
        with znodes.connection:
            for number in range(QUOTAS):
                znodes.ensure(f"/zookeeper/quota/p{number}")
            for _ in range(self.dice.randrange(5, 40)):
                if self.stop.is_set():
                    break
                self.batch(znodes)
            if self.dice.random() < 0.7:
                with znodes:
                    return
            # Otherwise it will expire.

    def batch(self, znodes):
        """Many requests, then all answers."""
        size = self.dice.randrange(1, IN_FLIGHT)
        for _ in range(size):
            znodes.xid += 1
            operation, body = self.request()
            znodes._send(struct.pack(">ii", znodes.xid, operation) + body)
        answered = 0
        while answered < size:
            (xid,) = struct.unpack_from(">i", znodes._receive())
            answered += xid > 0
        self.requests += size

    def path(self):
        dice = self.dice
        parent = f"/p{dice.randrange(PARENTS)}"
        return parent if dice.random() < 0.15 else f"{parent}/n{dice.randrange(NAMES)}"

    def data(self):
        return self.dice.choice([b"", b"x" * self.dice.randrange(300), b"%d" % self.dice.randrange(1000), None])

    def request(self):
        dice = self.dice
        if dice.random() < 0.03:
            return self.multi(self.quota())
        if dice.random() < 0.15:
            return self.multi([self.single(True) for _ in range(dice.randrange(1, 5))])
        return self.single(False)

    @staticmethod
    def multi(parts):
        return MULTI, b"".join(struct.pack(">i?i", operation, False, -1) + body for operation, body in parts) + \
            struct.pack(">i?i", -1, True, -1)

    def single(self, in_multi):
        dice = self.dice
        kind = dice.random()
        path = self.path()
        packed = pack_string(path)
        if kind < 0.05 and not in_multi:
            return SET_DATA, pack_string("/") + pack_string(b"%d" % dice.randrange(1000)) + struct.pack(">i", -1)
        if kind < 0.3:
            return DELETE, packed + struct.pack(">i", -1)
        if kind < 0.5:
            return SET_DATA, packed + self.buffer() + struct.pack(">i", -1)
        if kind < 0.6 and not in_multi:
            return SET_ACL, packed + acl(dice.randrange(ACLS)) + struct.pack(">i", -1)
        if kind < 0.62:
            return CHECK if in_multi else DELETE, packed + struct.pack(">i", -1 if not in_multi else dice.choice([-1, 3]))
        operation = dice.choice([CREATE, CREATE, CREATE, CREATE_CONTAINER, CREATE_TTL]) if self.modern else CREATE
        flags = FLAGS.get(operation, dice.choice([PERSISTENT, PERSISTENT, EPHEMERAL, SEQUENTIAL | EPHEMERAL]))
        if flags == PERSISTENT | SEQUENTIAL or operation == CREATE and path.count("/") == 1:
            flags = PERSISTENT
        body = packed + self.buffer() + acl(dice.randrange(ACLS)) + struct.pack(">i", flags)
        return operation, body + (struct.pack(">q", dice.choice([300, 600000])) if operation == CREATE_TTL else b"")

    def quota(self):
        """Its limits and its usage; they come and go together."""
        top = f"/zookeeper/quota/p{self.dice.randrange(QUOTAS)}"
        paths = [pack_string(f"{top}/{name}") for name in ("zookeeper_limits", "zookeeper_stats")]
        if self.dice.random() < 0.5:
            return [(DELETE, path + struct.pack(">i", -1)) for path in paths]
        return [(CREATE, path + pack_string(b"count=-1,bytes=-1") + OPEN_ACL + struct.pack(">i", PERSISTENT)) for path in paths]

    def buffer(self):
        data = self.data()
        return struct.pack(">i", -1) if data is None else pack_string(data)


class Load:
    """Several writers on one server, or on the members of an ensemble."""

    def __init__(self, addresses, seed, writers=4, modern=True):
        self.stop = threading.Event()
        self.writers = [Writer(addresses[i % len(addresses)], 1000 * seed + i, modern, self.stop) for i in range(writers)]

    def __enter__(self):
        for writer in self.writers:
            writer.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for writer in self.writers:
            writer.join()

    def requests(self):
        return sum(writer.requests for writer in self.writers)
