"""Shared by the tests of one-shot commands and scripts: a server, and zksh as a child process."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from fetch_servers import Unavailable, fetch  # noqa: E402
from server_case import ServerTest  # noqa: E402
from waiting import wait_until  # noqa: E402
from zksh import ZKSH, environment  # noqa: E402

NOT_SERVING = "reachable, but not serving (frozen, starting, without a quorum, a port for TLS, or not a ZooKeeper server)"
LONG = 300  # bytes


def fetched(version):
    """Where a server of this release is; skips the tests if that cannot be fetched."""
    try:
        return str(fetch(version))
    except (Unavailable, OSError, subprocess.SubprocessError) as error:
        raise unittest.SkipTest(f"ZooKeeper {version} cannot be fetched: {error}") from error


class SessionTest(ServerTest):
    # Sessions may be as short as a second, and may outlive a slow test.
    config = {"tickTime": "500", "maxSessionTimeout": "600000", "clientPortAddress": "::"}

    def start(self, *arguments, server=None, more_environment=None, **how):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([ZKSH, "-s", server or self.connect, *arguments],
                                   env={**environment(self.directory), **(more_environment or {})}, **{**pipes, **how})
        self.addCleanup(self.end, process)
        return process

    def start_with(self, create, *arguments, **how):
        """zksh reading lines, which is connected and has done a first one."""
        process = self.start(*arguments, **how)
        self.send(process, create.encode() + b"\n")
        path = create.split()[-2]
        self.assertEqual(process.stderr.readline(), f"Created {path}\n".encode())
        return process

    @staticmethod
    def send(process, lines):
        process.stdin.write(lines)
        process.stdin.flush()

    @staticmethod
    def close_input(process):
        process.stdin.close()
        process.stdin = None  # else `communicate` would want to flush it

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def run_zksh(self, *arguments, text=b"", timeout=60, **how):
        """Status, stdout and stderr."""
        process = self.start(*arguments, **how)
        out, err = process.communicate(text, timeout=timeout)
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def run_whole(self, *arguments, **how):
        """Stdout, once the servers have answered all that is asked in time; those of a busy machine may be late, which
        is said on stderr."""
        results = []

        def is_whole():
            results.append(self.run_zksh(*arguments, **how))
            self.assertEqual(results[-1][0], 0, results[-1])
            return not results[-1][2]
        wait_until(is_whole, 300, lambda: results[-1])
        return results[-1][1]

    def script(self, *lines, name="script"):
        return self.file(name, "".join(line + "\n" for line in lines), 0o700)

    def wait_until(self, check, limit=60):
        wait_until(check, limit)

    def wait_node(self, path, there=True, limit=60):
        self.wait_until(lambda: self.znodes.exists(self.root + path) == there, limit)

    def wait_gone(self, path):
        """The node goes long before its session could time out."""
        self.wait_node(path, there=False, limit=15)

    def request_is_unread(self):
        """Whether the (frozen) server has not read a request of LONG bytes; heartbeats and the like are short."""
        return self.server.unread() > LONG
