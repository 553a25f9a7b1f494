"""The program under test, and how it is run as one command."""
import os
import subprocess

ZKSH = os.path.abspath(os.environ.get("ZKSH", "build/zksh"))


def environment(home, **more):
    """This process's, with a home that is nobody's."""
    return {**os.environ, "HOME": home, "LC_ALL": "C.UTF-8", **more}


def run_zksh(*words, **how):
    """A subprocess.CompletedProcess: status, and the text on stdout and stderr. Its input ends at once if none is given."""
    stdin = {} if "input" in how or "stdin" in how else {"stdin": subprocess.DEVNULL}
    return subprocess.run([ZKSH, *words], **{"capture_output": True, "text": True, "timeout": 60, "check": False, **stdin, **how})
