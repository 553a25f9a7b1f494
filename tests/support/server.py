#!/usr/bin/python3
"""Starts and stops real standalone ZooKeeper servers for the tests, as a library and as a ctest fixture.

    with Server(extended_types=True) as server: ... server.address ...
    server.py start --state FILE
    server.py stop --state FILE

A started fixture ends with `stop`, or when the process that started it (ctest) is gone.
"""
import argparse
import contextlib
import ctypes
import fcntl
import glob
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from waiting import comes_true

JVM_FLAGS = ["-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m", "-Dzookeeper.forceSync=no"]
QUICK_START = ["-XX:TieredStopAtLevel=1"]
DEFAULT_CONFIG = {
    "tickTime": "2000",
    "clientPortAddress": "127.0.0.1",
    "admin.enableServer": "false",
    "4lw.commands.whitelist": "*",
    "enforceQuota": "true",
    "maxClientCnxns": "0",
}
# A client takes a server that is silent for a part of its session's timeout for lost, a holder of a lock for a
# sixteenth of it: of the usual 30 s that is less than a busy machine's servers need now and then.
PATIENT = {"minSessionTimeout": "120000", "maxSessionTimeout": "600000"}
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


class ServerError(Exception):
    """The server cannot be started, or does not serve in time."""


def class_path():
    """$ZOOKEEPER_HOME as Apache ships it, else Debian's package, whose manifest names the rest."""
    home = os.environ.get("ZOOKEEPER_HOME")
    if home:
        jars = glob.glob(os.path.join(home, "lib", "*.jar")) + glob.glob(os.path.join(home, "*.jar"))
        if not jars:
            raise ServerError(f"no jars below ZOOKEEPER_HOME={home}")
        return ":".join(sorted(jars))
    jar = "/usr/share/java/zookeeper.jar"
    if not os.path.exists(jar):
        raise ServerError(f"{jar} is missing: install the package zookeeper")
    return jar


def server_version():
    """Of the servers that class_path starts, as numbers: (3, 8, 0). What they say of themselves is of no use: Debian's
    3.9.3 calls itself 3.8.0."""
    home = os.environ.get("ZOOKEEPER_HOME")
    directories = [os.path.join(home, "lib"), home] if home else ["/usr/share/java"]
    for directory in directories:
        for jar in glob.glob(os.path.join(directory, "zookeeper-[0-9]*.jar")):
            return tuple(int(number) for number in re.findall(r"\d+", os.path.basename(jar))[:3])
    raise ServerError(f"no zookeeper-VERSION.jar in {' or '.join(directories)}")


def judged_release():
    """That of 3.4, 3.8 and 3.9, for which txns --check judges files, as whose servers these behave."""
    return next(name for name in ("3.9", "3.8", "3.4") if server_version() >= tuple(map(int, name.split("."))))


def needs(*version):
    """Decorates a test, or a class of them, that wants a server of this version or later: needs(3, 5)."""
    import unittest  # pylint: disable=import-outside-toplevel  # 40 ms, for the transcripts in vain
    return unittest.skipIf(server_version() < version, f"needs ZooKeeper {'.'.join(map(str, version))}")


def die_with_parent():
    """Run in a child before exec: a killed test leaves no server behind."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


_claims = []  # sockets whose names keep other tests from the ports of this process


def free_port():
    """A loopback port below the range from which the kernel takes ports for clients. No other process
    is given it while this one runs, though the server that binds it is only being started."""
    while True:
        port = random.randrange(20000, 32000)
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0zksh-tests-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return port


def four_letter_word(port, word, timeout=20.0):
    """The server's answer to a four-letter word; empty when it does not answer."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout) as connection:
            connection.sendall(word.encode())
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
            return answer.decode(errors="replace")
    except OSError:
        return ""


class Server:
    """One standalone server on a free loopback port, its data in a temporary directory.

    Start it from the main thread: it is killed when the thread that started it ends.
    """

    def __init__(self, config=None, extended_types=False, quick_start=True, jvm_flags=(), jars=()):
        self.config = {**DEFAULT_CONFIG, **(config or {})}
        if extended_types:
            self.config["extendedTypesEnabled"] = "true"
        self.jars = jars
        self.jvm_flags = JVM_FLAGS + (QUICK_START if quick_start else []) + list(jvm_flags)
        self.directory = None
        self.port = None
        self.process = None

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.remove()

    def start(self, deadline=180.0):
        """Starts the server (again, with its data and port) and waits until it serves."""
        if self.directory is None:
            self.directory = tempfile.mkdtemp(prefix="zksh-server-")
        until = time.monotonic() + deadline
        keep_port = self.port is not None
        while True:
            if not keep_port:
                self.port = free_port()
            self._spawn()
            while time.monotonic() < until:
                # What it is asked while it starts it may never answer.
                serves = "Mode: " in four_letter_word(self.port, "srvr", 5.0)
                if self.process.poll() is not None:  # if anybody serves there, it is another
                    break
                if serves:
                    return self
                time.sleep(0.02)
            log = self._log()
            self.kill()
            # Someone else may have taken the port since it was found free.
            if "BindException" in log and time.monotonic() < until:
                continue
            self.remove()
            raise ServerError(f"the ZooKeeper server does not serve:\n{log}")

    def _spawn(self):
        path = os.path.join(self.directory, "zoo.cfg")
        with open(path, "w", encoding="utf-8") as cfg:
            cfg.write(f"dataDir={self.directory}/data\nclientPort={self.port}\n")
            cfg.writelines(f"{key}={value}\n" for key, value in self.config.items())
        with open(os.path.join(self.directory, "log"), "wb") as log:
            self.process = subprocess.Popen(
                [shutil.which("java") or "java", *self.jvm_flags, "-cp", ":".join([class_path(), *self.jars]),
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", path],
                cwd=self.directory, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent)

    def _log(self):
        with open(os.path.join(self.directory, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()[-4000:]

    def unread(self):
        """How many bytes its connections hold that it has not read, as while it is frozen."""
        total = 0
        for name in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(name, encoding="ascii") as file:
                for line in list(file)[1:]:
                    _, local, _, state, queues = line.split()[:5]
                    established, port = state == "01", int(local.rsplit(":", 1)[1], 16)
                    if established and port == self.port:
                        total += int(queues.split(":")[1], 16)
        return total

    def freeze(self):
        """Stops the server's clock; returns when its last thread has stopped, which may take a while."""
        self.process.send_signal(signal.SIGSTOP)
        if not comes_true(lambda: all(state == "T" for state in self._thread_states()), 10):
            raise ServerError("the server cannot be stopped")

    def _thread_states(self):
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/stat"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                    open(path, encoding="ascii", errors="replace") as stat:  # the thread may have ended
                yield stat.read().rpartition(")")[2].split()[0]

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """Ends the server at once; its data stay, `start` brings it back."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def restart(self):
        self.kill()
        self.start()

    def remove(self):
        """Ends the server and removes its data."""
        self.kill()
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)
            self.directory = None


def guard(server, state, ready, owner):
    """Keeps the fixture's server until SIGTERM, or until the process `owner` is gone."""
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGTERM, lambda *_: None)
    owner_gone = os.pidfd_open(owner)
    try:
        server.start()
        with open(state + ".new", "w", encoding="utf-8") as file:
            file.write(f"{server.address}\n{os.getpid()}\n")
        os.rename(state + ".new", state)
        os.write(ready, b"ok")
        os.close(ready)
        select.select([woken, owner_gone], [], [])
    except ServerError as error:
        os.write(ready, str(error).encode())
    finally:
        server.remove()
        if os.path.exists(state):
            os.unlink(state)


def locked(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def start_fixture(args):
    # The guardian holds it as long as it lives, so the server of a run that was killed may be about to end.
    lock = open(args.state + ".lock", "w", encoding="utf-8")
    if not comes_true(lambda: locked(lock), 10):
        print(f"another run of the tests is under way: it holds {lock.name}", file=sys.stderr)
        return 1
    # A fixture of a run that was killed may have left its file, but not its server.
    if os.path.exists(args.state):
        os.unlink(args.state)
    owner = os.getppid()
    readable, ready = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(readable)
        # ctest waits until nobody holds its pipe any more.
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        # Containers stay: what they count would begin anew where a test took longer than a minute.
        guard(Server(PATIENT, jvm_flags=["-Dznode.container.checkIntervalMs=3600000"]), args.state, ready, owner)
        os._exit(0)
    os.close(ready)
    answer = b""
    while chunk := os.read(readable, 4096):
        answer += chunk
    if answer != b"ok":
        print(answer.decode() or "the server's guardian died", file=sys.stderr)
        return 1
    return 0


def stop_fixture(args):
    try:
        guardian = fixture(args.state)[1]
        gone = os.pidfd_open(guardian)
        os.kill(guardian, signal.SIGTERM)
    except (OSError, ProcessLookupError) as error:
        print(f"no server to stop: {error}", file=sys.stderr)
        return 1
    return 0 if select.select([gone], [], [], 20)[0] else 1


def fixture(state):
    """The address and the guardian's process id that `start` left in a state file."""
    with open(state, encoding="utf-8") as file:
        address, guardian = file.read().split()
    return address, int(guardian)


def main():
    parser = argparse.ArgumentParser(description="A ZooKeeper server as a ctest fixture.")
    actions = parser.add_subparsers(required=True)
    for name, action in (("start", start_fixture), ("stop", stop_fixture)):
        command = actions.add_parser(name)
        command.add_argument("--state", required=True)
        command.set_defaults(action=action)
    args = parser.parse_args()
    return args.action(args)


if __name__ == "__main__":
    sys.exit(main())
