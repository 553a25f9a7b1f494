"""The network between members, and from clients to members: links that can be blocked, muted and cut.

A blocked link passes nothing and loses nothing, as one whose packets are sent again; what was sent arrives
when it is open again. One may be blocked for requests or for answers alone. A severed one is blocked, too, and
ends new connections at once. A muted one passes requests and drops the answers.
"""
import collections
import errno
import fcntl
import os
import selectors
import socket
import struct
import termios
import threading

OPEN, BLOCKED, SEVERED, MUTED = "open", "blocked", "severed", "muted"
REQUESTS_BLOCKED, ANSWERS_BLOCKED = "requests blocked", "answers blocked"
MOST_KEPT = 1 << 20  # bytes of a direction; then its sender has to wait


class Link:
    """From one end to a port of the other. `told`: bytes that are replaced in the first words of a
    connection: the address that the one end tells of itself."""

    def __init__(self, port, told=None):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.told = told
        self.state = OPEN


class Direction:
    """Bytes from one socket to another."""

    def __init__(self, link, source, sink, is_answer):
        self.link, self.source, self.sink, self.is_answer = link, source, sink, is_answer
        self.kept = bytearray()
        self.begun = is_answer

    @property
    def passes(self):
        return self.link.state in (OPEN, MUTED, REQUESTS_BLOCKED if self.is_answer else ANSWERS_BLOCKED)

    def held(self):
        """How many bytes wait for the link to open."""
        return len(self.kept) + struct.unpack("i", fcntl.ioctl(self.source, termios.FIONREAD, b"\0" * 4))[0]

    def let(self, count):
        """Passes the first bytes of those that are held."""
        if len(self.kept) < count:
            self.kept += self.source.recv(count - len(self.kept))
        del self.kept[:self.sink.send(self.kept[:count])]

    def receive(self):
        """False at the end."""
        try:
            data = self.source.recv(65536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not self.begun and self.link.told:
            data = data.replace(*self.link.told)
        self.begun = True
        if not (self.is_answer and self.link.state == MUTED):
            self.kept += data
        return bool(data)

    def send(self):
        try:
            if self.kept:
                del self.kept[:self.sink.send(self.kept)]
            return True
        except BlockingIOError:
            return True
        except OSError:
            return False


def by_reset(one):
    """Closes a socket so that its peer is told of a reset."""
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


class Network:
    """Serves all links from one thread; their states may be set from any."""

    def __init__(self):
        self._selector = selectors.DefaultSelector()
        self._orders = collections.deque()
        self._directions = {}  # source → Direction
        self._woken, self._waker = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._order(None)
        self._thread.join(10)
        for one in (self._woken, self._waker, self._selector):
            one.close()

    def link(self, port, told=None):
        link = Link(port, told)
        self._order(lambda: self._selector.register(link.listener, selectors.EVENT_READ, link))
        return link

    def set(self, links, state):
        def change():
            for link in links:
                link.state = state
            for direction in list(self._directions.values()):
                self._arrange(direction)
        self._order(change)

    def cut(self, links):
        """Ends their connections, with a reset; what was under way is lost."""
        def end():
            for direction in list(self._directions.values()):
                if direction.link in links:
                    self._drop(direction, reset=True)
        self._order(end)

    def sever(self, links):
        """Ends their connections, with a reset, and each new one until the links are open again."""
        self.set(links, SEVERED)
        self.cut(links)

    def held(self, link, is_answer):
        """How many bytes of a blocked link's requests or answers wait."""
        found = []
        self._order(lambda: found.extend(one.held() for one in self._directions_of(link, is_answer)))
        return sum(found)

    def let(self, link, is_answer, count):
        """Passes so many bytes on a blocked link, and no more."""
        def let():
            for one in self._directions_of(link, is_answer):
                one.let(count)
        self._order(let)

    def _directions_of(self, link, is_answer):
        return [one for one in self._directions.values() if one.link is link and one.is_answer == is_answer]

    def _order(self, what):
        """Has the thread do it, and waits until it is done."""
        done = threading.Event()
        self._orders.append((what, done))
        self._waker.send(b"x")
        done.wait(10)

    def _serve(self):
        while True:
            for key, events in self._selector.select():
                if key.fileobj is self._woken:
                    if not self._obey():
                        return
                elif isinstance(key.data, Link):
                    self._accept(key.data)
                elif self._directions.get(key.fileobj):
                    self._pass_on(key.fileobj, events)

    def _obey(self):
        os.read(self._woken.fileno(), 1)
        what, done = self._orders.popleft()
        if what:
            what()
        done.set()
        return what is not None

    def _accept(self, link):
        near = link.listener.accept()[0]
        far = socket.socket()
        for one in (near, far):
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if link.state == SEVERED or far.connect_ex(link.target) == errno.ECONNREFUSED:
            by_reset(near)
            far.close()
            return
        for one, other, is_answer in ((near, far, False), (far, near, True)):
            self._directions[one] = Direction(link, one, other, is_answer)
            self._selector.register(one, selectors.EVENT_READ, None)
        for one in (near, far):
            self._arrange(self._directions[one])

    def _pass_on(self, source, events):
        one = self._directions[source]
        back = self._directions[one.sink]
        good = one.receive() if events & selectors.EVENT_READ else True
        # What is kept for a blocked link stays so.
        for each in (one, back):
            if each.passes:
                good = each.send() and good
        if not good:
            self._drop(one)
            return
        self._arrange(one)

    def _arrange(self, direction):
        """What the selector waits for, of both ends."""
        if direction.source not in self._directions:
            return
        for one in (direction, self._directions[direction.sink]):
            back = self._directions[one.sink]
            events = selectors.EVENT_READ if one.passes and len(one.kept) < MOST_KEPT else 0
            events |= selectors.EVENT_WRITE if back.passes and back.kept else 0
            self._watch(one.source, events)

    def _watch(self, source, events):
        """Those of whom nothing is wanted are not known to the selector."""
        known = source in self._selector.get_map()
        if known and events:
            self._selector.modify(source, events, None)
        elif known:
            self._selector.unregister(source)
        elif events:
            self._selector.register(source, events, None)

    def _drop(self, direction, reset=False):
        for one in (direction.source, direction.sink):
            if self._directions.pop(one, None):
                self._watch(one, 0)
                close = by_reset if reset else socket.socket.close
                close(one)
