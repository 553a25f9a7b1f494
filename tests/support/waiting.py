"""Waits for states that can only be polled."""
import time


def wait_until(check, limit=30):
    """Returns as soon as `check` is true; fails after `limit` seconds."""
    until = time.monotonic() + limit
    while not check():
        if time.monotonic() > until:
            raise AssertionError(f"waited in vain for {check}")
        time.sleep(0.01)
