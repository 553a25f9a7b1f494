"""Tests that reading and printing a large answer takes at most twice its size in memory."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from broken_server import STAT, BrokenServer  # noqa: E402
from znodes import pack_string  # noqa: E402
from zksh import ZKSH  # noqa: E402

SIZE = int(os.environ.get("ANSWER_MIB", "48")) << 20
REST = 40 << 20  # the program itself, 4 MiB waiting to be written, 16 MiB that a walk has read ahead
GET, ACL, LIST = 4, 6, 12
TOP = STAT[:56] + struct.pack(">i", 0) + STAT[60:]  # without children


class Body:
    """The body of a long answer, made piece by piece, because a child's maximum includes the memory of the process that started it."""

    def __init__(self, size, pieces):
        self.size, self.pieces = size, pieces


def value(content):
    """Each node has this value, repeated up to SIZE."""
    assert SIZE % len(content) == 0

    def pieces():
        yield struct.pack(">i", SIZE)
        for _ in range(16):
            yield content * (SIZE // len(content) // 16)
        yield TOP
    return {GET: Body(4 + SIZE + len(TOP), pieces), 3: TOP, LIST: struct.pack(">i", 0) + TOP,
            ACL: struct.pack(">ii", 1, 31) + pack_string("world") + pack_string("anyone") + TOP}


def names(length):
    """/a has as many children as fit; they have none."""
    step = 10000
    count = SIZE // (length + 4) // step * step

    def pieces():
        yield struct.pack(">i", count)
        for first in range(0, count, step):
            yield b"".join(struct.pack(">i", length) + b"%0*d" % (length, i) for i in range(first, first + step))
        yield TOP
    return {LIST: Body(4 + count * (length + 4) + len(TOP), pieces)}


def answering(bodies):
    """A server with these answers; nodes below /a have no children."""
    def behave(c):
        c.greet(timeout=30000)
        while True:
            request = c.request()
            path = request[12:12 + struct.unpack_from(">i", request, 8)[0]] if c.operation in (3, GET, ACL, LIST) else b""
            body = bodies.get(c.operation)
            if c.operation == LIST and path.count(b"/") > 1:
                body = struct.pack(">i", 0) + TOP
            if body is None or path.startswith(b"/zookeeper"):
                c.send(c.answer(-101))
                continue
            if isinstance(body, bytes):
                body = Body(len(body), lambda whole=body: [whole])
            head = struct.pack(">iqi", c.xid, 1, 0)
            c.send(struct.pack(">i", len(head) + body.size) + head)
            for piece in body.pieces():
                c.send(piece)
    return behave


def measure(bodies, words, text=b"", program=(ZKSH,), tls=None):
    """Status, bytes on stdout, stderr, maximum KiB of memory."""
    with BrokenServer(answering(bodies), tls) as server, tempfile.TemporaryFile() as given, \
            tempfile.TemporaryFile() as err:
        given.write(text)
        given.seek(0)
        with subprocess.Popen([*program, "-s", server.address, *words], stdin=given, stdout=subprocess.PIPE, stderr=err) as process:
            size = 0
            while chunk := process.stdout.read(1 << 20):
                size += len(chunk)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return process.returncode, size, err.read(1 << 16), used.ru_maxrss


CASES = {
    "get": (value(b"a text: "), ("get", "/a"), SIZE + 1),
    "get of bytes": (value(b"\xff\0\x80\0"), ("get", "/a"), SIZE + 1),
    "get -o plain": (value(b"a text: "), ("get", "-o", "plain", "/a"), SIZE),
    "get -o json": (value(b"a text: "), ("get", "-o", "json", "/a"), SIZE),
    "get -o json of bytes": (value(b"\xff\0\x80\0"), ("get", "-o", "json", "/a"), SIZE * 4 // 3),
    "get -o json of control characters": (value(b"\1"), ("get", "-o", "json", "/a"), SIZE * 6),
    "get -x": (value(b"a text: "), ("get", "-x", "/a"), SIZE * 4),
    "get -b": (value(b"a text: "), ("get", "-b", "/a"), SIZE * 4 // 3),
    "get in a script": (value(b"a text: "), ("-c", "get /a"), SIZE + 1),
    "get of two": (value(b"a text: "), ("get", "/a", "/b"), 2 * SIZE),
    "stat": (value(b"a text: "), ("stat", "/a"), 100),
    "ls": (names(10), ("ls", "/a"), SIZE // 2),
    "ls of short names": (names(8), ("ls", "/a"), SIZE // 2),
    "ls -o plain": (names(10), ("ls", "-o", "plain", "/a"), SIZE // 2),
    "ls -o json": (names(10), ("ls", "-o", "json", "/a"), SIZE // 2),
    "ls of long names": (names(200), ("ls", "/a"), SIZE // 2),
    "ls -R": ({**names(1000), GET: struct.pack(">i", -1) + TOP}, ("ls", "-R", "/a"), SIZE // 2),
    "grep of a long line": (value(b"a text: "), ("grep", "ex", "/a"), SIZE),
    "grep of short lines": (value(b"a text:\n"), ("grep", "ex", "/a"), SIZE),
    "grep -c": (value(b"a text:\n"), ("grep", "-c", "ex", "/a"), 1),
    "grep -o json": (value(b"a text: "), ("grep", "-o", "json", "ex", "/a"), SIZE),
}


class Memory(unittest.TestCase):
    def check(self, name, bodies, words, least, text=b""):
        status, size, err, kib = measure(bodies, words, text)
        what = f"{name}: status {status}, {size} bytes, {kib >> 10} MiB of memory for an answer of {SIZE >> 20} MiB; {err[:300]!r}"
        if os.environ.get("ANSWER_MIB"):
            print(what, flush=True)
        self.assertEqual(status, 0, what)
        self.assertGreaterEqual(size, least, what)
        self.assertLessEqual(kib << 10, 2 * SIZE + REST, what)

    def test_commands(self):
        for name, (bodies, words, least) in CASES.items():
            with self.subTest(name):
                self.check(name, bodies, words, least)

    def test_piped(self):
        self.check("get on piped input", value(b"a text: "), (), SIZE, b"get /a\n")
        self.check("ls on piped input", names(10), (), SIZE // 2, b"ls /a\n")

    def test_dump_refuses_what_apply_cannot_read(self):
        status, _, err, kib = measure(value(b"a text: "), ("dump", "/a"))
        self.assertEqual(status, 1, err)
        self.assertIn(b"cannot dump /a: its value has %d bytes, and a line of a dump at most 32 MiB" % SIZE, err)
        self.assertLessEqual(kib << 10, 2 * SIZE + REST)


if __name__ == "__main__":
    unittest.main()
