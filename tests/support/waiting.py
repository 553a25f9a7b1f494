"""Waits for states that can only be polled, and for files to become readable."""
import select
import time


def wait_until(check, limit=30):
    """Returns as soon as `check` is true; fails after `limit` seconds."""
    until = time.monotonic() + limit
    while not check():
        if time.monotonic() > until:
            raise AssertionError(f"waited in vain for {check}")
        time.sleep(0.01)


def readable(file, seconds):
    """Whether a file (or its descriptor) becomes readable in that time. Unlike select, takes any descriptor."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(1000 * seconds))
