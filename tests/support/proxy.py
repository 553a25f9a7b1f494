"""A TCP proxy for a server that can hold back answers, block and cut connections, for tests of lost connections.

    with Proxy(server.port) as proxy: ... proxy.address ...; proxy.swallow(); ...; proxy.cut()
"""
import collections
import selectors
import socket
import threading
import time

from waiting import wait_until


class Proxy:
    """Passes bytes both ways. After swallow() requests reach the server, answers are dropped; after
    block() nothing reaches anybody, as behind a firewall that drops packets. With a delay, in seconds,
    each way takes that long, as to a server far away."""

    def __init__(self, port, at=("127.0.0.1", 0), delay=0.0):
        self._delay = delay
        self._under_way = collections.deque()  # when due, from where, what, and in which round trip
        # The round trip that what is sent on each side may depend on: the last of what has arrived there.
        self._heard_by_client = self._heard_by_server = 0
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(at)
        self.address = f"{at[0]}:{self._listener.getsockname()[1]}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._woken, self._waker = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._peers = {}
        self._from_server = set()
        self._swallows = False
        self._sign = None
        self._blocks = False
        self.swallowed = 0  # bytes of answers that were kept back
        self.asked = 0  # the number of requests, with those to connect, that clients have sent
        self._unread = collections.defaultdict(bytes)  # by client: the beginning of a request
        self.first_bytes = {}  # what each client sent first, by its socket
        self.last_greeting = b""  # the last connect request
        self._order = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """May be called twice."""
        if not self._thread.is_alive():
            return
        self._tell("stop")
        self._thread.join(10)
        for one in (self._listener, self._woken, self._waker, self._selector):
            one.close()

    def swallow(self):
        self._swallows = True

    def swallow_after(self, sign):
        """Answers are dropped as soon as a request has these bytes in it; the request is passed on."""
        self._sign = sign

    def block(self):
        self._blocks = True

    def cut(self):
        """Closes every connection, and passes bytes on again for those to come."""
        self._tell("cut")

    def slow_down(self, delay):
        """What is sent from now on takes this long; not less than before."""
        self._delay = delay

    def move(self, port):
        """Cuts, and passes what comes then on to another server."""
        self._target = ("127.0.0.1", port)
        self.cut()

    @property
    def round_trips(self):
        """How often a client may have waited for an answer before it sent more."""
        return self._heard_by_client

    def forget_round_trips(self):
        """Waits for the ends of connections, which a client need not wait for."""
        wait_until(lambda: not self._peers)
        self._heard_by_client = self._heard_by_server = 0

    def _tell(self, order):
        self._order = order
        self._waker.send(b"x")

    def _serve(self):
        while True:
            wait = max(0.0, self._under_way[0][0] - time.monotonic()) if self._under_way else None
            for key, _ in self._selector.select(wait):
                if key.fileobj is self._woken:
                    self._woken.recv(1)
                    self._drop_all()
                    self._swallows = self._blocks = False
                    self._sign = None
                    if self._order == "stop":
                        return
                elif key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj in self._peers:
                    self._pass_on(key.fileobj)
            while self._under_way and self._under_way[0][0] <= time.monotonic():
                self._arrive(*self._under_way.popleft()[1:])

    def _accept(self):
        client, _ = self._listener.accept()
        try:
            server = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        self._from_server.add(server)
        for one, other in ((client, server), (server, client)):
            self._peers[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, source):
        try:
            data = source.recv(65536)
            if source not in self._from_server:
                if source not in self.first_bytes and len(data) > 40 and any(data[20:28]):  # resumes a session
                    self.last_greeting = data
                self.first_bytes.setdefault(source, data[:4])
                self._count_requests(source, data)
            if self._sign and self._sign in data and source not in self._from_server:
                self._swallows = True
            if self._blocks and data:
                pass
            elif self._swallows and source in self._from_server and data:
                self.swallowed += len(data)
            else:
                self._send(source, data)
        except OSError:
            self._send(source, b"")

    def _count_requests(self, source, data):
        unread = self._unread[source] + data
        while len(unread) >= 4 and len(unread) >= 4 + int.from_bytes(unread[:4], "big"):
            unread = unread[4 + int.from_bytes(unread[:4], "big"):]
            self.asked += 1
        self._unread[source] = unread

    def _send(self, source, data):
        round_trip = self._heard_by_server if source in self._from_server else self._heard_by_client + 1
        if not self._delay:
            self._arrive(source, data, round_trip)
            return
        self._under_way.append((time.monotonic() + self._delay, source, data, round_trip))
        if not data:
            self._selector.unregister(source)

    def _arrive(self, source, data, round_trip):
        if source not in self._peers:
            return
        try:
            if data:
                self._peers[source].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(source)
        elif source in self._from_server:
            self._heard_by_client = max(self._heard_by_client, round_trip)
        else:
            self._heard_by_server = max(self._heard_by_server, round_trip)

    def _drop(self, source):
        for one in (source, self._peers[source]):
            if one in self._selector.get_map():
                self._selector.unregister(one)
            del self._peers[one]
            self._from_server.discard(one)
            one.close()

    def _drop_all(self):
        while self._peers:
            self._drop(next(iter(self._peers)))
