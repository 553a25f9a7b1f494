"""Information about processes that are not the tests' own."""
import os


def _stat(pid):
    """What stands behind a process's name in /proc/PID/stat, state first; None of one that is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_running(pid):
    """Whether a process has not ended; nobody may have waited for it yet."""
    stat = _stat(pid)
    return stat is not None and stat[0] not in "ZX"


def session_members(leader):
    """The running processes of a terminal's session."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    stats = {pid: _stat(pid) for pid in pids}
    return {pid for pid, stat in stats.items() if stat and stat[0] not in "ZX" and int(stat[3]) == leader}


def children(pid):
    """The processes that any thread of a process has started."""
    found = set()
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found.update(map(int, file.read().split()))
    return found


def descendants(pid):
    """What a process has started, and what that has, and so on; those that are still below it."""
    found = children(pid)
    for child in list(found):
        try:
            found |= descendants(child)
        except FileNotFoundError:
            continue  # it has ended meanwhile
    return found
