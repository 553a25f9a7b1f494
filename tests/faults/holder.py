"""The program under a lock: it goes to the resource with its fencing token, works there, and leaves.

    holder.py SOCKET WHO SECONDS [--stubborn]     status 0: done; 7: the token was refused
"""
import os
import signal
import socket
import sys
import time

REFUSED = 7
PAUSE = 0.02  # between two writes


def main():
    path, who, seconds = sys.argv[1:4]
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # only SIGKILL ends it
    mode, token = os.environ["ZKSH_LOCK_MODE"], os.environ["ZKSH_LOCK_TOKEN"]
    with socket.socket(socket.AF_UNIX) as resource:
        resource.connect(path)

        def ask(text):
            """Whether it may leave when it wants to."""
            resource.sendall(text.encode())
            answer = resource.recv(64)
            if answer == b"stale\n":
                sys.exit(REFUSED)
            return answer == b"ok\n"

        ask(f"enter {os.environ['ZKSH_LOCK_PATH']} {mode} {token} {who}")
        until = time.monotonic() + float(seconds)
        while not (ask("write") and time.monotonic() >= until):
            time.sleep(PAUSE)
        ask("leave")


main()
