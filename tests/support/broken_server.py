"""A server that violates ZooKeeper's protocol, for tests of zksh's reaction.

    with BrokenServer(lambda c: (c.greet(), c.request(), c.cut_off())) as server: ... server.address ...

What it is given is done with each connection, in a thread of its own; then the connection is closed. When the other
side hangs up meanwhile, that is the end of it.
"""
import contextlib
import socket
import ssl
import struct
import threading

from waiting import readable
from znodes import pack_string

SESSION = 0x100000ABC0001
STAT = struct.pack(">qqqqiiiqiiq", 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1)
CREATE, CREATE_WITH_STAT = 1, 15
# Operation → what a good answer holds; what creates a node also names it.
ANSWERS = {106: struct.pack(">i", 0), CREATE: b"", 3: STAT, 4: pack_string("x") + STAT, 5: STAT,
           6: struct.pack(">ii", 1, 31) + pack_string("world") + pack_string("anyone") + STAT, CREATE_WITH_STAT: STAT}
GET, LIST, LIST_WITH_STAT, MULTI_READ = 4, 8, 12, 22


def pack_parts(*parts, end=True):
    """The parts of a transaction's answer: a kind, and what follows it."""
    return (b"".join(struct.pack(">i?i", kind, False, 0) + rest for kind, rest in parts) +
            (struct.pack(">i?i", -1, True, -1) if end else b""))


class Connection:
    """What can be done with a connection; each raises OSError when the other side is gone."""

    def __init__(self, link):
        self.link = link
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.xid = self.operation = 0
        self.asked = b""
        self.ahead = b""  # what was peeked at
        self.names = ()  # of the children of /, and of theirs

    def peek(self, size):
        """What the next read will begin with."""
        self.ahead = self.read(size)
        return self.ahead

    def read(self, size):
        data, self.ahead = self.ahead[:size], self.ahead[size:]
        while len(data) < size:
            # A word such as "srvr", read as a length, is more than there is memory for.
            chunk = self.link.recv(min(size - len(data), 1 << 16))
            if not chunk:
                raise ConnectionError("closed")
            data += chunk
        return data

    def send(self, data):
        self.link.sendall(data)

    def end(self):
        """What servers do before they close a connection: on TLS, says that nothing more comes."""
        if isinstance(self.link, ssl.SSLSocket):
            self.link.setblocking(False)
            with contextlib.suppress(ssl.SSLWantReadError):  # it does not wait for the client to say so
                self.link.unwrap()

    def drip(self, data):
        """Byte by byte, so that each comes by itself."""
        for byte in data:
            self.send(bytes([byte]))
            readable(self.link, 0.003)  # nothing is read: a pause that a hang-up ends

    def send_frame(self, body):
        self.send(struct.pack(">i", len(body)) + body)

    def hello(self):
        """Reads what a client begins with: a handshake."""
        return self.read(struct.unpack(">i", self.read(4))[0])

    @staticmethod
    def welcome(timeout=4000, session=SESSION):
        """The answer to it, with its length."""
        body = struct.pack(">iiqi16s?", 0, timeout, session, 16, b"p" * 16, False)
        return struct.pack(">i", len(body)) + body

    def greet(self, **how):
        self.hello()
        self.send(self.welcome(**how))

    def request(self):
        """Reads the next request; pings are answered."""
        while True:
            body = self.read(struct.unpack(">i", self.read(4))[0])
            self.xid, self.operation = struct.unpack_from(">ii", body)
            if self.xid != -2:
                self.asked = body
                return body
            self.send_frame(struct.pack(">iqi", -2, 1, 0))

    def created(self):
        """The path of the node that the last request creates, with its length."""
        path = self.asked[12:12 + struct.unpack_from(">i", self.asked, 8)[0]].decode()
        is_sequential = self.asked[-1] & 2
        return pack_string(path + "0000000001" if is_sequential else path)

    def list_of(self, path):
        names = self.names if path.count(b"/") == 1 else ()
        return struct.pack(">i", len(names)) + b"".join(struct.pack(">i", len(name)) + name for name in names)

    def reads(self):
        """The kinds and paths of the reads in a multiRead."""
        at, found = 8, []
        while True:
            kind, end, _ = struct.unpack_from(">i?i", self.asked, at)
            if end:
                return found
            size, = struct.unpack_from(">i", self.asked, at + 9)
            found.append((kind, self.asked[at + 13:at + 13 + size]))
            at += 13 + size + 1

    def content(self):
        """What a good answer holds behind its header."""
        if self.operation in (LIST, LIST_WITH_STAT):
            size, = struct.unpack_from(">i", self.asked, 8)
            return self.list_of(self.asked[12:12 + size]) + (STAT if self.operation == LIST_WITH_STAT else b"")
        if self.operation == MULTI_READ:
            return pack_parts(*((kind, ANSWERS[GET] if kind == GET else self.list_of(path)) for kind, path in self.reads()))
        return (self.created() if self.operation in (CREATE, CREATE_WITH_STAT) else b"") + ANSWERS.get(self.operation, b"")

    def answer(self, code=0):
        """A good answer to the request that was read last, with its length."""
        body = struct.pack(">iqi", self.xid, 1, code) + (self.content() if code == 0 else b"")
        return struct.pack(">i", len(body)) + body

    def serve(self, requests=1 << 30):
        """Answers so many requests as it should."""
        for _ in range(requests):
            self.request()
            self.send(self.answer())

    def stay(self):
        """Reads on, and says nothing."""
        while self.link.recv(65536):
            pass


class BrokenServer:
    """`tls`: the ssl.SSLContext of a server that talks TLS, and does that as it should."""

    def __init__(self, behave, tls=None, at=("127.0.0.1", 0)):
        self._behave = behave
        self._tls = tls
        self._listener = socket.create_server(at)
        self.address = f"{at[0]}:{self._listener.getsockname()[1]}"
        self._links = set()
        self._lock = threading.Lock()
        self._ends = False
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._lock:
            self._ends = True
            for link in self._links:
                with contextlib.suppress(OSError):  # the other side was faster
                    link.shutdown(socket.SHUT_RDWR)
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self._listener.close()

    def _accept(self):
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link):
        if self._tls:
            link = self._tls.wrap_socket(link, server_side=True, do_handshake_on_connect=False)
        with self._lock:
            if self._ends:
                link.close()
                return
            self._links.add(link)
        try:
            if self._tls:
                link.do_handshake()
            self._behave(Connection(link))
        except (OSError, struct.error):
            pass
        with self._lock:
            self._links.discard(link)
            link.close()

