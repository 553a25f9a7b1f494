"""Waits for states that can only be polled, and for files to become readable."""
import select
import time


def comes_true(check, limit):
    """Returns as soon as `check` is true; False after `limit` seconds."""
    until = time.monotonic() + limit
    while not check():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def wait_until(check, limit=30, said=lambda: ""):
    """As comes_true, but fails then, with what `said` returns."""
    if not comes_true(check, limit):
        code = check.__code__
        raise AssertionError(f"waited in vain: {code.co_filename}:{code.co_firstlineno} {said()}")


def readable(file, seconds):
    """Whether a file (or its descriptor) becomes readable in that time. Unlike select, takes any descriptor."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(1000 * seconds))
