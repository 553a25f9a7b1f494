"""Named ways in which a server breaks ZooKeeper's protocol, each a function that gets a connection (broken_server).

`BROKEN`: nothing can come of a request. `ODD`: what a server may do, and requests may succeed or fail.
"""
import pathlib
import select
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from broken_server import GET, LIST, MULTI_READ, STAT, pack_parts  # noqa: E402
from waiting import readable  # noqa: E402
from znodes import pack_string  # noqa: E402

LONG = {"timeout": 6000}   # the client is to find fault before it gives up
SHORT = {"timeout": 900}
HUGE = struct.pack(">i", 2**31 - 1)
LEAST = -2**31


def number(value):
    return struct.pack(">i", value)


def header(xid, code=0, zxid=1):
    return struct.pack(">iqi", xid, zxid, code)


def greeting(length=37, version=0, timeout=4000, session=7, password=16):
    return struct.pack(">iiiqi", length, version, timeout, session, password) + b"p" * 17


def instead(sent):
    """In the greeting's place."""
    return lambda c: (c.hello(), c.send(sent), c.stay())


def early(body, times=1):
    """Behind the greeting, before any request."""
    return lambda c: (c.greet(**LONG), [c.send_frame(body) for _ in range(times)], c.stay())


def answered(make, **how):
    """Each request with what `make` gives for it, length and all."""
    def behave(c):
        c.greet(**(how or LONG))
        while True:
            c.request()
            c.send(make(c))
    return behave


def framed(make):
    def with_length(c):
        body = make(c)
        return number(len(body)) + body
    return answered(with_length)


def body(given):
    """A good header, and then this."""
    return framed(lambda c: header(c.xid) + given)


def chatter(given):
    """The same frame again and again, whatever is asked."""
    def behave(c):
        c.greet(**SHORT)
        while True:
            if readable(c.link, 0.1) and not c.link.recv(65536):
                return
            c.send_frame(given)
    return behave


def event(kind, path=pack_string("/a")):
    return header(-1) + number(kind) + number(3) + path


def after(requests, then):
    """Answers so many requests as it should."""
    return lambda c: (c.greet(**LONG), c.serve(requests), c.request(), then(c))


def transactions(*parts, end=True):
    """Everything as it should be, but a transaction is answered with these parts: a kind, and what follows it."""
    def make(c):
        if c.operation != 14:
            return c.answer()[4:]
        return header(c.xid) + pack_parts(*parts, end=end)
    return framed(make)


def reads(change):
    """Everything as it should be, but a multiRead is answered with what `change` makes of the good answer's parts."""
    def make(c):
        c.names = tuple(b"node%d" % number for number in range(20))
        if c.operation != MULTI_READ:
            return c.answer()[4:]
        good = [(kind, pack_string("x") + STAT if kind == GET else number(0)) for kind, _ in c.reads()]
        changed = change(good)
        return header(c.xid) + (changed if isinstance(changed, bytes) else pack_parts(*changed))
    return framed(make)


def pinged(code):
    """Pings are answered with this code, and requests as they should be."""
    def behave(c):
        c.greet(**LONG)
        while True:
            c.asked = c.read(struct.unpack(">i", c.read(4))[0])
            c.xid, c.operation = struct.unpack_from(">ii", c.asked)
            c.send(number(16) + header(c.xid, code) if c.xid == -2 else c.answer())
    return behave


def deaf(c):
    """Reads nothing after the handshake."""
    c.greet(**LONG)
    hung_up = select.poll()
    hung_up.register(c.link, select.POLLRDHUP)
    hung_up.poll()


def read_only(answer):
    """A server that says it is read-only, and gives this answer to the question whether it still is."""
    def behave(c):
        word = c.read(4)
        if word == b"isro":
            c.send(answer)
            return
        c.read(struct.unpack(">i", word)[0])
        c.send(c.welcome()[:-1] + b"\1")
        c.serve()
    return behave


def build_broken():
    modes = {
        "silent": lambda c: c.stay(),
        "closes at once": lambda c: None,
        "closes behind the greeting": lambda c: c.hello(),
        "half a greeting": instead(greeting()[:20]),
        "a length alone": instead(greeting()[:4]),
        "a greeting of nothing": instead(number(0)),
        "a greeting of 2 GiB": instead(HUGE + greeting()[4:]),
        "a greeting of less than nothing": instead(number(-5)),
        "HTTP": instead(b"HTTP/1.1 400 Bad Request\r\n\r\n<html>no</html>" * 4),
        "SSH": instead(b"SSH-2.0-OpenSSH_9.2p1\r\n"),
        "Redis": instead(b"-ERR unknown command\r\n" * 3),
        "a TLS alert": instead(b"\x15\x03\x01\x00\x02\x02\x46" * 8),
        "ones": instead(b"\xff" * 500),
        "zeros": instead(b"\0" * 500),
        "a version of the protocol": instead(greeting(version=1)),
        "a session without a number": instead(greeting(session=0)),
        "it closes": after(0, lambda c: None),
        "it says nothing": lambda c: (c.greet(**SHORT), c.request(), c.stay()),
        "half an answer, and it closes": after(0, lambda c: c.send(c.answer()[:10])),
        "half an answer": lambda c: (c.greet(**SHORT), c.request(), c.send(c.answer()[:10]), c.stay()),
        "garbage": answered(lambda c: b"garbage, no frame" * 9),
        "pings' answers for ever": chatter(header(-2)),
        "events for ever": chatter(event(3, pack_string("/zz"))),
        "credentials' answers for ever": chatter(header(-4)),
        "watches' answers for ever": chatter(header(-8)),
        "nothing behind the header": body(b""),
        "another's answer": framed(lambda c: header(c.xid + 7) + STAT * 3),
        "an earlier one's answer": framed(lambda c: header(max(c.xid - 1, 0)) + STAT * 3),
        "an answer to no ping": early(header(-2)),
        "an answer to no credential": early(header(-4)),
        "a refusal of no credential": early(header(-4, -115)),
        "an answer to no watches": early(header(-8, -101)),
        "only pings are answered": lambda c: (c.greet(**LONG), [c.request() for _ in iter(int, 1)]),
        "it reads nothing": deaf,
        "a refusal in the place of an answer": framed(lambda c: header(-4, -115)),
        "an answer that nobody asked for": early(header(1)),
        "many answers that nobody asked for": early(header(9), 100),
        "an event without a path": early(header(-1) + number(3) + number(3)),
        "an event with a path of 2 GiB": early(event(3, HUGE)),
        "an event with a path of less than nothing": early(event(3, number(-2))),
        "an event that is a header": early(header(-1)),
        "lengths of 2 GiB within": body(HUGE * 30),
        "negative lengths within": body(number(-16) * 30),
        "ones within": body(b"\xff" * 400),
        "a Stat that is cut": body(STAT[:-1]),
        "less than a header": framed(lambda c: header(c.xid)[:15]),
    }
    for timeout in (0, -1, -5, LEAST, 2**30, 2**31 - 1):
        modes[f"a session timeout of {timeout}"] = instead(greeting(timeout=timeout))
    for length in (0, 1, 15, 17, -1, LEAST, 2**31 - 1):
        modes[f"a password of {length}"] = instead(greeting(password=length))
    for length in (16, 35, 38, 41):
        modes[f"a greeting of {length}"] = instead(greeting(length=length))
    for xid in (-3, -5, -6, -7, -9, -10, -100, LEAST):
        modes[f"the number {xid}"] = framed(lambda c, n=xid: header(n))
        modes[f"the number {xid} before a request"] = early(header(xid))
    for kind in (0, -1, -2, -113, 8, 2**31 - 1, LEAST):
        modes[f"an event of type {kind}"] = early(event(kind))
    for length in (0, 1, 15, -1, LEAST, 2**29, 2**31 - 1):
        modes[f"a frame of {length}"] = answered(lambda c, n=length: number(n) + b"\0" * 16)
    for code in (-1, -2, -3, -4, -5, -6, -7, -8, -9, -13, -100, -102, -112, -115, -116, -118, -122, -9999, 1, 2**31 - 1, LEAST):
        modes[f"the code {code}"] = framed(lambda c, n=code: header(c.xid, n))
    return modes


def every(names):
    """Each node has these children, down to the third level, and a value."""
    listing = number(len(names)) + b"".join(number(len(name)) + name for name in names) + STAT

    def make(c):
        given = c.answer()
        if c.operation not in (8, 12) or c.asked[12:].rstrip(b"\0\1").count(b"/") > 3:
            return given
        answer = header(c.xid) + (listing if c.operation == 12 else listing[:-len(STAT)])
        return number(len(answer)) + answer
    return answered(make)


def build_odd():
    def with_zxid(zxid):
        return answered(lambda c: c.answer()[:8] + struct.pack(">q", zxid) + c.answer()[16:])
    return {
        "an old greeting": lambda c: (c.hello(), c.send(greeting(length=36)[:-1]), c.serve()),
        "a session timeout of 1": lambda c: (c.greet(timeout=1), c.serve()),
        "the longest session timeout": lambda c: (c.greet(timeout=2**30 - 1), c.serve()),
        "a session of -1": lambda c: (c.greet(session=-1), c.serve()),
        "transactions of the lowest number": with_zxid(-2**63),
        "transactions of the highest number": with_zxid(2**63 - 1),
        "more behind each answer": answered(lambda c: number(len(c.answer()) + 3) + c.answer()[4:] + b"more---"),
        "pings that fail": pinged(-4),
        "a read-only session": read_only(b"ro"),
        "a read-only session that is said to be none": read_only(b"rw"),
        "a read-only session, and a long answer": read_only(b"rw" * 5000),
        "events of nodes": lambda c: (c.greet(), [c.send_frame(event(kind)) for kind in range(1, 8)], c.serve()),
        "an event without a name": lambda c: (c.greet(), c.send_frame(event(3, pack_string(""))), c.serve()),
        "an answer twice": answered(lambda c: c.answer() * 2),
        "an answer byte by byte": lambda c: (c.greet(), c.request(), c.drip(c.answer()), c.serve()),
        "closes after each answer": lambda c: (c.greet(), c.serve(1)),
        "closes after three": lambda c: (c.greet(), c.serve(3)),
        "creates somewhere else": framed(lambda c: header(c.xid) + (pack_string("../..") if c.operation == 1 else c.answer()[20:])),
        "creates nothing": framed(lambda c: header(c.xid) + (pack_string("") if c.operation == 1 else c.answer()[20:])),
        "names of dots": every([b".", b".."]),
        "names with control characters": every([b"\x1b[2J", b"\n", b"\xff\xfe"]),
        "names with an end within": every([b"a\0b", b"\0"]),
        "the same name twice": every([b"a", b"a"]),
    }


def build_transactions():
    """Answers to `multi 'create /a x' 'set /a y'`."""
    created, done, failed = (1, pack_string("/a")), (5, STAT), (-1, number(-101))
    return {f"a transaction {flaw}": transactions(*parts, end=flaw != "without an end") for flaw, parts in {
        "of too many parts": (created, done, done),
        "of too few parts": (created,),
        "of no parts": (),
        "of other parts": (done, created),
        "without an end": (created, done),
        "whose parts are cut": (created, (5, b"")),
        "of long parts": ((1, HUGE), done),
        "done in part": (created, failed),
        "failed without a reason": ((-1, number(0)), (-1, number(-2))),
        "failed with a positive code": ((-1, number(0)), (-1, number(5)))}.items()}


def build_reads():
    """Answers to many reads at once."""
    def each(kind, rest):
        return lambda good: [(kind, rest) for _ in good]

    broken = {
        "of too many parts": lambda good: good + good[:1],
        "of too few parts": lambda good: good[:-1],
        "of no parts": lambda good: [],
        "of nothing": lambda good: b"",
        "of other parts": lambda good: [(GET + LIST - kind, rest) for kind, rest in good],
        "without an end": lambda good: pack_parts(*good, end=False),
        "whose parts are cut": lambda good: pack_parts(*good)[:len(good) * 9],
        "of long parts": each(LIST, HUGE),
        "of negative parts": each(LIST, number(-2)),
        "of nameless children": each(LIST, number(1) + pack_string("")),
        "of children with a slash": each(LIST, number(1) + pack_string("a/b")),
        "failed without a reason": each(-1, number(0)),
        "failed with a positive code": each(-1, number(5)),
        "of ones": lambda good: b"\xff" * 400,
    }
    odd = {
        "of nodes that are gone": each(-1, number(-101)),
        "that may not be read": each(-1, number(-102)),
        "failed with a code nobody knows": each(-1, number(-9999)),
        "done in part": lambda good: [part if place % 2 else (-1, number(-101)) for place, part in enumerate(good)],
    }
    return ({f"reads {flaw}": reads(change) for flaw, change in broken.items()},
            {f"reads {flaw}": reads(change) for flaw, change in odd.items()})


def build_misnamed():
    return {f"a child named {name}": every([name.encode()]) for name in ("", "/", "a/b", "/a")}


BROKEN = build_broken()
TRANSACTIONS = build_transactions()
BROKEN_READS, ODD_READS = build_reads()
ODD = build_odd() | build_misnamed() | TRANSACTIONS | BROKEN_READS | ODD_READS
