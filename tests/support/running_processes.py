"""Information about processes that are not the tests' own."""
import contextlib
import glob
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
    """The processes that any thread of a process has started; none of one that is gone."""
    found = set()
    for name in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(name, encoding="ascii") as file:
            found.update(map(int, file.read().split()))
    return found


def descendants(pid):
    """What a process has started, and what that has, and so on; those that are still below it."""
    found = children(pid)
    return found.union(*map(descendants, found))
