"""What the tests ask of processes that are not their own."""
import os


def is_running(pid):
    """Whether a process has not ended; nobody may have waited for it yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid):
    """The processes that any thread of a process has started."""
    found = set()
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found.update(map(int, file.read().split()))
    return found
