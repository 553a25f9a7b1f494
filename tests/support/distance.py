"""A TCP proxy that stands for the way to a server far away.

Every byte takes its time, and a narrow way lets only so many pass. It loses nothing: what was sent before the end of a
connection arrives before that end.

    with Distance(server.port) as far: ... far.address ...
"""
import heapq
import itertools
import selectors
import socket
import threading
import time



class Distance:
    """`one_way`: seconds that a byte takes. `rate`: bytes a second from the server; None: no limit."""

    def __init__(self, port, one_way=0.075, rate=None):
        self._target = ("127.0.0.1", port)
        self._one_way = one_way
        self.round_trip = 2 * one_way
        self._rate = rate
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._woken, self._waker = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._peers = {}
        self._clients = set()
        self._free = {}  # when the way from a server can take more
        self._arrivals = []  # (time, number, where, bytes; empty at the end of what it is sent)
        self._number = itertools.count()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._waker.send(b"x")
        self._thread.join(10)
        for one in (*self._peers, self._listener, self._woken, self._waker, self._selector):
            one.close()

    def _serve(self):
        while True:
            wait = max(self._arrivals[0][0] - time.monotonic(), 0) if self._arrivals else None
            for key, _ in self._selector.select(wait):
                if key.fileobj is self._woken:
                    return
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._take(key.fileobj)
            while self._arrivals and self._arrivals[0][0] <= time.monotonic():
                self._deliver(*heapq.heappop(self._arrivals)[2:])

    def _accept(self):
        client, _ = self._listener.accept()
        server = socket.create_connection(self._target)
        self._clients.add(client)
        for one, other in ((client, server), (server, client)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._peers[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _take(self, source):
        narrow = self._rate and source not in self._clients
        try:
            data = source.recv(1460 if narrow else 65536)
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(source)
        leaves = time.monotonic()
        if narrow:
            leaves = max(leaves, self._free.get(source, 0)) + len(data) / self._rate
            self._free[source] = leaves
        heapq.heappush(self._arrivals, (leaves + self._one_way, next(self._number), self._peers[source], data))

    def _deliver(self, receiver, data):
        try:
            if data:
                receiver.sendall(data)
            else:
                receiver.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has gone; whoever sends to it learns that from its end
