"""The resource that locks protect: a server on a Unix socket that records entries in the ledger.

One connection is one holder: `enter LOCK MODE TOKEN WHO`, `write`…, `leave`, each answered by ok or stale;
`write` by stay, too: the holder has to go on until it hears something else, or is ended.
"""
import os
import selectors
import socket
import threading


class Resource:
    """Serves holder.py's programs from a thread of its own. `with` ends it."""

    def __init__(self, directory, ledger):
        self.path = os.path.join(directory, "resource")
        self.ledger = ledger
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(64)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._woken, self._waker = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._who = {}  # connection → who
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._waker.send(b"x")
        self._thread.join(10)
        for one in (self._listener, self._woken, self._waker, self._selector):
            one.close()

    def _serve(self):
        while True:
            ready = [key.fileobj for key, _ in self._selector.select()]
            if self._woken in ready:
                return
            # Who has died is out before anybody comes in.
            texts = {one: self._read(one) for one in ready if one is not self._listener}
            for one, text in texts.items():
                if not text:
                    self._drop(one)
            for one, text in texts.items():
                if text:
                    self._answer(one, text)
            if self._listener in ready:
                self._selector.register(self._listener.accept()[0], selectors.EVENT_READ)

    @staticmethod
    def _read(connection):
        try:
            return connection.recv(4096).decode()
        except OSError:
            return ""

    def _answer(self, connection, text):
        verb, *words = text.split()
        if verb == "enter":
            lock, mode, token, who = words
            self._drop_dead(connection)
            good = self.ledger.enter(lock, mode, int(token), who)
            if good:
                self._who[connection] = who
        elif verb == "write":
            good = self.ledger.write(self._who[connection])
        else:
            self.ledger.leave(self._who.pop(connection))
            good = True
        stays = verb == "write" and self.ledger.is_captive(self._who[connection])
        try:
            connection.send(b"stale\n" if not good else b"stay\n" if stays else b"ok\n")
        except OSError:
            self._drop(connection)

    def _drop_dead(self, newcomer):
        """Of those inside, whose end has not been seen yet, since it came a moment ago."""
        for one in list(self._who):
            if one is not newcomer:
                try:
                    if not one.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                        self._drop(one)
                except BlockingIOError:
                    pass
                except OSError:
                    self._drop(one)

    def _drop(self, connection):
        if connection in self._selector.get_map():
            self._selector.unregister(connection)
            connection.close()
        who = self._who.pop(connection, None)
        if who:
            self.ledger.gone(who)
