#!/usr/bin/python3
"""Runs transcripts against a real server: zksh's output must match.

README.md beside this file describes the format. `--update` writes down what is printed now.
"""
import argparse
import concurrent.futures
import difflib
import itertools
import os
import pathlib
import shlex
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import PATIENT, Server, fixture, server_version  # noqa: E402
from znodes import Znodes  # noqa: E402
from session import Session  # noqa: E402
from transcript import Masker, TranscriptError, parse, suits, written  # noqa: E402

QUIET = 0.15  # --update only: silence that counts as the end of a command's output
MARKS = {"stdout": "|", "stderr": "!"}
WRAPPER = """#!/bin/sh
for word; do
  case $word in -server|--server|--server=*|--sandbox*) exec {zksh} "$@" ;; esac
done
exec {zksh} -server {server} "$@"
"""
SKIPPED = 77  # ctest's word for it (tests/CMakeLists.txt)
serial = itertools.count()


class Mismatch(Exception):
    """zksh did something else than the transcript says; the text is the report."""


class NotForThisServer(Exception):
    """@needs asks for another version."""


class Run:
    """One transcript, executed once."""

    def __init__(self, path, options, server, complete=True):
        self.path = path
        self.options = options
        self.server = server
        self.own_server = None
        self.sessions = {}
        self.timeout = 120.0
        self.name = path.relative_to(HERE).with_suffix("").as_posix() if path.is_relative_to(
            HERE) else path.stem
        self.root = f"/t-{self.name.replace('/', '-')}-{os.getpid()}-{next(serial)}"
        self.steps = parse(path.read_text(encoding="utf-8"), complete)

    def __enter__(self):
        config = {}
        rooted, masks = True, []
        for step in self.steps:
            if step.kind == "directive" and step.stream == "server":
                config.update(word.split("=", 1) for word in step.text.split())
                self.own_server = Server({**PATIENT, **config})
            elif step.kind == "directive" and step.stream == "needs":
                if not suits(step.text, server_version()):
                    raise NotForThisServer(step.text)
            elif step.kind == "directive" and step.stream == "root":
                rooted = step.text != "none"
            elif step.kind == "directive" and step.stream == "mask":
                masks.append(step.text)
        if self.own_server:
            self.own_server.start()
            self.server = self.own_server.address
        chroot = self.root if rooted else ""
        self.has_root = rooted or any(b"@ROOT@" in step.text for step in self.steps
                                      if step.kind in ("run", "input"))
        self.temporary = tempfile.TemporaryDirectory(prefix="zksh-transcript-")
        self.directory = os.path.join(self.temporary.name, "work")
        self._prepare_directory(self.server + chroot)
        self.mask = Masker([(self.temporary.name, "@TMP@"), (self.root, "@ROOT@"),
                            (self.server, "@SERVER@")])
        for text in masks:
            self.mask.add(text)
        if self.has_root:
            with Znodes(self.server) as znodes:
                znodes.create(self.root)
        return self

    def __exit__(self, *_):
        for session in self.sessions.values():
            session.end()
        if self.own_server:
            self.own_server.remove()
        elif self.has_root:
            with Znodes(self.server) as znodes:
                znodes.delete_tree(self.root)
                znodes.delete_tree("/zookeeper/quota" + self.root)
        self.temporary.cleanup()

    def _prepare_directory(self, server):
        programs = os.path.join(self.temporary.name, "bin")
        for directory in (self.directory, programs, self.temporary.name + "/home"):
            os.mkdir(directory)
        wrapper = os.path.join(programs, "zksh")
        with open(wrapper, "w", encoding="utf-8") as file:
            file.write(WRAPPER.format(zksh=shlex.quote(self.options.zksh),
                                      server=server))
        os.chmod(wrapper, 0o755)
        kept = {k: v for k, v in os.environ.items()
                if not k.startswith(("XDG_", "ZKSH", "LC_", "LANG", "PAGER", "NO_COLOR"))}
        self.environment = {
            **kept, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": self.temporary.name + "/home",
            "TZ": "UTC", "LC_ALL": "C.UTF-8", "TERM": "dumb", "ZKSH": self.options.zksh}

    def filled(self, data):
        return (data.replace(b"@SERVER@", self.server.encode())
                .replace(b"@ROOT@", self.root.encode())
                .replace(b"@TMP@", self.temporary.name.encode())
                .replace(b"@PYTHON@", sys.executable.encode()))

    def spawn(self, step):
        session = Session(step, self.filled(step.text).decode(errors="surrogateescape"),
                          self.environment, self.directory)
        self.sessions[step.name] = session
        return session

    def direct(self, step):
        """Carries out a directive that is an action."""
        if step.stream == "timeout":
            self.timeout = float(step.text)
        elif step.stream == "signal":
            name, number = step.text.split()
            self.sessions[name].process.send_signal(getattr(signal, "SIG" + number))
        elif step.stream in ("freeze", "thaw", "kill", "start"):
            if not self.own_server:
                raise TranscriptError(f"line {step.number}: @{step.stream} needs @server: "
                                      "the common one serves others too")
            getattr(self.own_server, step.stream)()

    def check(self):
        """Runs all steps; raises Mismatch at the first process that differs."""
        for group in self.groups():
            first = group[0]
            if first.kind == "directive":
                self.direct(first)
            elif first.name:
                self.check_step(first)
            else:
                self.check_at_once(group)
        for name in list(self.sessions):
            self.finish(name, 0)

    def groups(self):
        """Each `$` line without a name together with its input and expectations; other steps alone."""
        group = []
        for step in self.steps:
            if group and (step.name or step.kind in ("run", "directive")):
                yield group
                group = []
            if step.name or step.kind == "directive":
                yield [step]
            else:
                group.append(step)
        if group:
            yield group

    def check_at_once(self, group):
        session = self.spawn(group[0])
        data = b"".join(self.filled(step.line) for step in group if step.kind == "input")
        feeder = threading.Thread(target=lambda: (session.feed(data), session.close_input()),
                                  daemon=True)
        feeder.start()
        for step in group:
            if step.kind == "expect":
                session.expected[step.stream].append(step.line)
        status = [int(step.text) for step in group if step.kind == "status"]
        self.finish("", status[-1] if status else 0)

    def check_step(self, step):
        deadline = time.monotonic() + self.timeout
        if step.kind == "run":
            self.spawn(step)
            return
        session = self.sessions[step.name]
        if step.kind == "input":
            session.feed(self.filled(step.line))
        elif step.kind == "status":
            self.finish(step.name, int(step.text))
        else:
            session.expected[step.stream].append(step.line)
            line = session.take(step.stream, deadline, None if step.newline else step.text)
            if line is not None:
                session.taken[step.stream].append(self.mask(line))
            if line is None or session.taken[step.stream][-1] != step.line:
                # What else is coming belongs into the report.
                session.wait(time.monotonic() + 0.5)
                self.compare(session)
                raise Mismatch(f"{self.path}:{step.number}: differs")

    def finish(self, name, status):
        """Ends a session's input, and compares all that it printed, and its status."""
        session = self.sessions.pop(name)
        if name:
            session.close_input()
        got = session.wait(time.monotonic() + self.timeout)
        where = f"{self.path}:{session.step.number}: {session.step.text.decode()}"
        if got is None:
            session.end()
            self.compare(session, f"{where}: still runs after {self.timeout:g} s\n")
            raise Mismatch(f"{where}: still runs after {self.timeout:g} s")
        wrong = "" if got == status else f"{where}: exit status {got}, expected {status}\n"
        self.compare(session, wrong)
        if wrong:
            raise Mismatch(wrong)

    def compare(self, session, report=""):
        different = ""
        for stream in ("stdout", "stderr"):
            printed = session.taken[stream] + [self.mask(line) for line in session.rest(stream)]
            if printed != session.expected[stream]:
                different += "".join(
                    line if line.endswith("\n") else line + "\n\\ no newline\n"
                    for line in difflib.unified_diff(
                        [shown(line) for line in session.expected[stream]],
                        [shown(line) for line in printed],
                        f"{self.path}:{session.step.number} {stream} expected", f"{stream} printed"))
        if different:
            raise Mismatch(report + different)

    def update(self):
        """The transcript's text with the expectations replaced by what is printed now. Lines are fed
        one at a time, the next when all is quiet, so that each is followed by its own output."""
        source = self.path.read_text(encoding="utf-8").split("\n")
        by_number = {step.number: step for step in self.steps}
        last = {[s for s in group if s.kind in ("run", "input", "directive")][-1].number
                for group in self.groups() if not group[0].name}
        result = []
        for number, line in enumerate(source, 1):
            step = by_number.get(number)
            if step is None:
                if not line.endswith("\\ no newline"):
                    result.append(line + "\n")
            elif step.kind == "status" and step.name:
                self.end_quietly(step.name, result)
            elif step.kind in ("run", "directive", "input"):
                result.append(line + "\n")
                if step.kind == "input" and not step.newline:
                    result.append(f"{step.name}\\ no newline\n")
                self.act(step)
                self.collect(result, 0.5 if step.kind == "run" else QUIET)
                if number in last and not step.name:
                    self.end_quietly("", result)
        for name in list(self.sessions):
            self.end_quietly(name, result)
        text = "".join(result)
        return text.rstrip("\n") + "\n"

    def act(self, step):
        if step.kind == "directive":
            self.direct(step)
        elif step.kind == "run":
            self.spawn(step)
        elif step.name in self.sessions:
            self.sessions[step.name].feed(self.filled(step.line))

    def collect(self, result, quiet):
        until = time.monotonic() + self.timeout
        started = time.monotonic()
        while time.monotonic() < until:
            running = [s for s in self.sessions.values() if s.open]
            if any(s.has_unread_input() for s in running):
                started = time.monotonic()  # a busy machine: it has not come to that yet
            heard = max([started] + [s.heard for s in running])
            if time.monotonic() - heard > quiet or not running:
                break
            time.sleep(0.01)
        for name, session in self.sessions.items():
            self.write_log(name, session, result)

    def write_log(self, name, session, result):
        # Blank lines stand between a program's output and the next program, not within.
        blank = []
        while result and result[-1] == "\n":
            blank.append(result.pop())
        with session.changed:
            log, session.log = session.log, []
        # The order between the streams is not known: stderr first, so that an update changes little.
        for stream in ("stderr", "stdout"):
            data = b"".join(chunk for where, chunk in log if where == stream)
            for line in data.splitlines(True):
                result.append(written(name, MARKS[stream], self.mask(line)))
        result.extend(blank)

    def end_quietly(self, name, result):
        if name not in self.sessions:
            return
        session = self.sessions.pop(name)
        session.close_input()
        status = session.wait(time.monotonic() + self.timeout)
        session.end()
        self.write_log(name, session, result)
        blank = []
        while result and result[-1] == "\n":
            blank.append(result.pop())
        if status is None:
            raise Mismatch(f"{self.path}: {session.step.text.decode()} still runs after its input ended")
        if status or name:
            result.append(f"{name}[{status}]\n")
        result.extend(blank)


def shown(line):
    """Bytes for a report: readable, and different for different bytes."""
    return line.decode(errors="backslashreplace")


def run_one(path, options, server):
    """An empty string, or what is wrong. Raises NotForThisServer."""
    try:
        if options.update:
            with Run(path, options, server, complete=False) as run:
                text = run.update()
            path.write_text(text, encoding="utf-8")
        with Run(path, options, server) as run:
            run.check()
        return ""
    except TranscriptError as error:
        return f"{path}: {error}\n"
    except Mismatch as mismatch:
        return str(mismatch).rstrip("\n") + "\n"


def find(paths):
    for path in map(pathlib.Path, paths):
        path = path.resolve()
        yield from sorted(path.rglob("*.txt")) if path.is_dir() else [path]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zksh", default=os.environ.get("ZKSH", HERE.parents[1] / "build" / "zksh"),
                        help="the program under test (default: $ZKSH, else build/zksh)")
    parser.add_argument("--state", help="use the server of this fixture (tests/support/server.py)")
    parser.add_argument("--server", help="use this server, host:port")
    parser.add_argument("--update", action="store_true", help="write down what is printed now")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("files", nargs="*", default=[str(HERE)], metavar="FILE|DIRECTORY")
    options = parser.parse_args()
    options.zksh = str(pathlib.Path(options.zksh).resolve())
    if not os.access(options.zksh, os.X_OK):
        sys.exit(f"{options.zksh} is not a program that can be run: build it, or give --zksh")
    return options


def main():
    options = parse_arguments()
    own = None
    server = options.server or (fixture(options.state)[0] if options.state else None)
    if not server:
        own = Server(PATIENT).start()
        server = own.address
    failed = skipped = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            paths = list(find(options.files))
            for run in [pool.submit(run_one, path, options, server) for path in paths]:
                try:
                    report = run.result()
                except NotForThisServer:
                    skipped += 1
                    continue
                sys.stdout.write(report)
                failed += bool(report)
    finally:
        if own:
            own.remove()
    tried = len(paths) - skipped
    print(f"{tried - failed} of {tried} transcripts agree" + (f"; {skipped} need another server" if skipped else ""))
    if failed or not paths:
        return 1
    return 0 if tried else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
