"""The program under a lock: enters the resource with its fencing token, works, and leaves.

Under several locks it does so for each, as WHO, WHO@1, …
    holder.py SOCKET WHO SECONDS [--stubborn]     status 0: done; 7: the token was refused
"""
import os
import signal
import socket
import sys
import time

REFUSED = 7
PAUSE = 0.02  # between two writes


class Door:
    """A connection to the resource, for one lock."""

    def __init__(self, path):
        self.resource = socket.socket(socket.AF_UNIX)
        self.resource.connect(path)

    def ask(self, text):
        """Whether it may leave when it wants to."""
        self.resource.sendall(text.encode())
        answer = self.resource.recv(64)
        if answer == b"stale\n":
            sys.exit(REFUSED)
        return answer == b"ok\n"


def main():
    path, who, seconds = sys.argv[1:4]
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # only SIGKILL ends it
    mode = os.environ["ZKSH_LOCK_MODE"]
    locks = list(zip(os.environ["ZKSH_LOCK_PATH"].split(), os.environ["ZKSH_LOCK_TOKEN"].split()))
    doors = [Door(path) for _ in locks]
    for i, (lock, token) in enumerate(locks):
        doors[i].ask(f"enter {lock} {mode} {token} {who}{f'@{i}' if i else ''}")
    until = time.monotonic() + float(seconds)
    while not (all([door.ask("write") for door in doors]) and time.monotonic() >= until):
        time.sleep(PAUSE)
    for door in doors:
        door.ask("leave")


main()
