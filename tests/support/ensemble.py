"""An ensemble of real ZooKeeper servers on loopback ports, for tests.

    with Ensemble(3) as ensemble: ... ensemble.connect_string ...; ensemble.follower().kill()
"""
import os
import re
import shutil
import sys
import tempfile

from server import Server, ServerError, four_letter_word, free_port
from waiting import comes_true


class Member(Server):
    """One server; its data are in a directory that the ensemble keeps."""

    def __init__(self, directory, number, config, jvm_flags):
        super().__init__(config)
        self.jvm_flags = self.jvm_flags + jvm_flags
        self.directory = directory
        self.number = number
        self.port = int(config["clientPort"])
        os.makedirs(os.path.join(directory, "data"))
        with open(os.path.join(directory, "data", "myid"), "w", encoding="ascii") as file:
            file.write(f"{number}\n")

    def mode(self, timeout=20.0):
        """leader, follower, read-only; empty while it serves nobody."""
        found = re.search(r"^Mode: (.*)$", four_letter_word(self.port, "srvr", timeout), re.MULTILINE)
        return found.group(1) if found else ""

    def wait_mode(self, *modes):
        def settled():
            seen.append(self.mode(5.0))  # what it is asked while it starts it may never answer
            return seen[-1] in modes or self.process.poll() is not None
        seen = []
        if not comes_true(settled, 180) or seen[-1] not in modes:
            raise ServerError(f"server {self.number} is {seen[-1] or 'not serving'}, not {modes}:\n{self._log()}")


class Ensemble:
    """`jvm_flags`: as -Dreadonlymode.enabled=true, for what zoo.cfg cannot set."""

    def __init__(self, size=3, config=None, jvm_flags=()):
        self.directory = tempfile.mkdtemp(prefix="zksh-ensemble-")
        ports = [free_port() for _ in range(3 * size)]
        # Elections among servers of one machine need no patience; its members do, where it is busy: a leader that
        # does not hear from them for syncLimit ticks gives up, and drops its sessions.
        common = {"tickTime": "500", "initLimit": "40", "syncLimit": "30", **(config or {})}
        for i in range(size):
            common[f"server.{i + 1}"] = f"127.0.0.1:{ports[3 * i]}:{ports[3 * i + 1]}"
        self.servers = [
            Member(os.path.join(self.directory, str(i + 1)), i + 1,
                   {**common, "clientPort": str(ports[3 * i + 2])}, list(jvm_flags))
            for i in range(size)]

    def __enter__(self):
        try:
            for server in self.servers:
                server._spawn()
            for server in self.servers:
                server.wait_mode("leader", "follower")
            return self
        except BaseException:
            self.remove()
            raise

    def __exit__(self, _, error, __):
        if isinstance(error, OSError):  # why a member closed a connection only its log says
            for server in self.servers:
                print(f"-- server {server.number}:\n{server._log()}", file=sys.stderr)
        self.remove()

    @property
    def connect_string(self):
        return ",".join(server.address for server in self.servers)

    def follower(self):
        return next(server for server in self.servers if server.mode() == "follower")

    def remove(self):
        for server in self.servers:
            server.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
