"""A minimal ZooKeeper client for fixtures: starts in a tenth of the time of importing kazoo.

The protocol is jute over TCP (zookeeper.jute, ZooDefs.OpCode): 4-byte lengths, big-endian integers.
"""
import socket
import struct
import time

from waiting import readable

CREATE, DELETE, EXISTS, GET_DATA, SET_DATA, GET_ACL, GET_CHILDREN = 1, 2, 3, 4, 5, 6, 8
PING, CLOSE_SESSION = 11, -11
NO_NODE, NO_AUTH, NODE_EXISTS, NOT_EMPTY = -101, -102, -110, -111


class ZnodeError(Exception):
    def __init__(self, code, path):
        super().__init__(f"ZooKeeper error {code} for {path}")
        self.code = code


def pack_string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack(">i", len(data)) + data


OPEN_ACL = struct.pack(">ii", 1, 31) + pack_string("world") + pack_string("anyone")


class Znodes:
    """A session of its own; `with` closes it. Blocking, one request at a time. Idle, it sends no heartbeats: when
    nothing was asked for half the session timeout, which the server may have made shorter, another session goes on,
    without the ephemerals and watches of the first."""

    def __init__(self, address, timeout=30.0, session_timeout=600_000):
        self._address, self._timeout, self._session_timeout = address, timeout, session_timeout
        self._connect()

    def _connect(self):
        host, port = self._address.rsplit(":", 1)
        self.connection = socket.create_connection((host, int(port)), self._timeout)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.xid = 0
        # protocol version, last zxid, timeout, session id, password, read-only
        self._send(struct.pack(">iqiqi16s?", 0, 0, self._session_timeout, 0, 16, b"", False))
        _, negotiated = struct.unpack_from(">ii", self._receive())
        self._idle_limit = negotiated / 1000 / 2  # in seconds; half, since the server's clock is another
        self._renewed_at = time.monotonic() + self._idle_limit

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._send(struct.pack(">ii", 1, CLOSE_SESSION))
            self._receive()
        except OSError:
            pass
        self.connection.close()

    def create(self, path, data=b"", flags=0):
        body = pack_string(path) + pack_string(data) + OPEN_ACL + struct.pack(">i", flags)
        return self._unpack_string(self._call(CREATE, path, body))

    def ensure(self, path, data=b""):
        """Creates a node that may be there."""
        try:
            self.create(path, data)
        except ZnodeError as error:
            if error.code != NODE_EXISTS:
                raise

    def delete(self, path):
        self._call(DELETE, path, pack_string(path) + struct.pack(">i", -1))

    def set(self, path, data):
        self._call(SET_DATA, path, pack_string(path) + pack_string(data) + struct.pack(">i", -1))

    def get(self, path):
        """The value; None when it is null."""
        answer = self._call(GET_DATA, path, pack_string(path) + b"\0")
        (length,) = struct.unpack_from(">i", answer)
        return None if length < 0 else answer[4:4 + length]

    def version(self, path):
        # Stat: czxid, mzxid, ctime, mtime, version
        return struct.unpack_from(">qqqqi", self._call(EXISTS, path, pack_string(path) + b"\0"))[4]

    def owner(self, path):
        """The session of an ephemeral; 0 of other nodes."""
        # Stat: as above, cversion, aversion, ephemeralOwner
        return struct.unpack_from(">qqqqiiiq", self._call(EXISTS, path, pack_string(path) + b"\0"))[7]

    def permissions(self, path):
        """The bits of the first entry of its ACL."""
        return struct.unpack_from(">ii", self._call(GET_ACL, path, pack_string(path)))[1]

    def exists(self, path, watch=False):
        try:
            self._call(EXISTS, path, pack_string(path) + struct.pack(">?", watch))
            return True
        except ZnodeError as error:
            if error.code != NO_NODE:
                raise
            return False

    def await_gone(self, path, seconds):
        """Waits for the node's end, by a watch. False: it was still there when the time was over."""
        return self._await(lambda: not self.exists(path, watch=True), seconds)

    def await_children(self, path, number, seconds):
        """Waits, by watches, until a node has so many children; one that is not there has none."""
        def counted():
            while self.exists(path, watch=True):
                try:
                    return len(self.children(path, watch=True)) == number
                except ZnodeError as error:
                    if error.code != NO_NODE:
                        raise
            return number == 0
        return self._await(counted, seconds)

    def _await(self, check, seconds):
        """Calls a check, which sets watches, again after each event."""
        until = time.monotonic() + seconds
        patience = self.connection.gettimeout()
        try:
            while not check():
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self.connection.settimeout(left)
                self._receive()  # an event: nothing else comes unasked
                self.connection.settimeout(patience)
            return True
        except TimeoutError:
            return False
        finally:
            self.connection.settimeout(patience)

    def children(self, path, watch=False):
        answer = self._call(GET_CHILDREN, path, pack_string(path) + struct.pack(">?", watch))
        (count,) = struct.unpack_from(">i", answer)
        names, offset = [], 4
        for _ in range(max(count, 0)):
            name = self._unpack_string(answer, offset)
            offset += 4 + len(name.encode())
            names.append(name)
        return names

    def delete_tree(self, path):
        """Deletes what it can: another session may be doing the same, or an ACL may forbid it."""
        try:
            for name in self.children(path):
                self.delete_tree(path.rstrip("/") + "/" + name)
            self.delete(path)
        except ZnodeError as error:
            if error.code not in (NO_NODE, NO_AUTH, NOT_EMPTY):
                raise

    def _call(self, operation, path, body):
        if time.monotonic() > self._renewed_at:
            self.connection.close()
            self._connect()
        self.xid += 1
        self._send(struct.pack(">ii", self.xid, operation) + body)
        while True:
            self._await_answer()
            answer = self._receive()
            xid, _, code = struct.unpack_from(">iqi", answer)
            if xid == self.xid:
                break
        self._renewed_at = time.monotonic() + self._idle_limit
        if code:
            raise ZnodeError(code, path)
        return answer[16:]

    def _await_answer(self):
        """A leader of 3.8 may sleep over a write that is committed (CommitProcessor) until it hears something."""
        until = time.monotonic() + self._timeout
        while not readable(self.connection, 1):
            if time.monotonic() > until:
                raise TimeoutError("the server does not answer")
            self._send(struct.pack(">ii", -2, PING))

    def _send(self, body):
        self.connection.sendall(struct.pack(">i", len(body)) + body)

    def _receive(self):
        (length,) = struct.unpack(">i", self._read(4))
        return self._read(length)

    def _read(self, size):
        data = bytearray()
        while len(data) < size:
            chunk = self.connection.recv(size - len(data))
            if not chunk:
                raise ConnectionError("the server closed the connection")
            data += chunk
        return bytes(data)

    @staticmethod
    def _unpack_string(answer, offset=0):
        (length,) = struct.unpack_from(">i", answer, offset)
        return answer[offset + 4:offset + 4 + length].decode()
