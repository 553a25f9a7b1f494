"""Runs a program in a private tmux and reads its screen, for the screen tests.

    screen = Tmux(["build/zksh", "--sandbox"], width=80, height=24)
    screen.wait_for("CONNECTED")
    screen.type("ls /"); screen.keys("Enter")
    screen.wait_for(lambda s: "[zookeeper]" in s.lines())
    screen.close()

Nothing here waits for a time: wait_for looks until the screen is as it should be. The tmux server,
its socket and the program are gone when close() was called or the test process ended, however.
"""
import contextlib
import ctypes
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from running_processes import session_members  # noqa: E402

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def tmux_version():
    """As numbers: (3, 3)."""
    said = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


class Tmux:
    """A program in a terminal of a fixed size. `env` is added to the environment."""

    def __init__(self, command, width=80, height=24, env=None, cwd=None, term="tmux-256color"):
        self._directory = tempfile.mkdtemp(prefix="zksh-tmux-")
        self._base = ["tmux", "-u", "-S", os.path.join(self._directory, "socket"), "-f", "/dev/null"]
        self._env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE")}
        # In the foreground (-D), as a child that dies with this process.
        self._server = subprocess.Popen(
            self._base + ["-D"], env=self._env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        try:
            self._until(self._serves, "tmux does not start")
            self._tmux("set-option", "-g", "remain-on-exit", "on", ";",
                       "set-option", "-g", "default-terminal", term, ";",
                       "set-option", "-g", "history-limit", "100000", ";",
                       "set-option", "-g", "status", "off", ";",
                       "set-option", "-s", "escape-time", "0")
            settings = [f"-e{name}={value}" for name, value in (env or {}).items()]
            self._tmux("new-session", "-d", "-x", str(width), "-y", str(height),
                       "-c", cwd or os.getcwd(), *settings, "--", *map(str, command))
        except BaseException:
            self.close()
            raise

    def close(self):
        """Ends the program (SIGHUP) and the terminal, and waits for the end of all that ran there. May be
        called twice."""
        if self._server.poll() is None:
            leader = self._leader()
            subprocess.run(self._base + ["kill-server"], env=self._env, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                self._server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._await_end(leader)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _leader(self):
        """The first process in the terminal; None before there is one."""
        shown = subprocess.run(self._base + ["display-message", "-p", "#{pane_pid}"], env=self._env, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return int(shown) if shown.strip().isdigit() else None

    @staticmethod
    def _await_end(leader):
        """Programs write their history, and more, when their terminal goes: into what a test uses next."""
        deadline = time.monotonic() + 10
        while leader and (left := session_members(leader)):
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    end = os.pidfd_open(pid)
                    if not select.select([end], [], [], max(deadline - time.monotonic(), 0))[0]:
                        os.kill(pid, signal.SIGKILL)
                        select.select([end], [], [])
                    os.close(end)

    # What the person at the keyboard does.

    def keys(self, *names):
        """Presses keys by tmux's names: "Enter", "C-c", "Left", "M-b", "Escape"."""
        self._tmux("send-keys", "--", *names)

    def type(self, text):
        """Types text; a newline in it is Enter."""
        for start in range(0, len(text), 500):
            part = text[start:start + 500]
            # A final semicolon would separate tmux's own commands.
            part = part[:-1] + "\\;" if part.endswith(";") else part
            self._tmux("send-keys", "-l", "--", part)

    def paste(self, text, bracketed=True):
        """Pastes; in brackets if the program has asked for that, as terminals do."""
        self._tmux("load-buffer", "-b", "paste", "-", stdin=text)
        options = ["-p"] if bracketed else []
        # Newer ones (3.7; 3.5 does not know it) write control characters as ^X without this.
        if "S]" in self._tmux("list-commands", "paste-buffer"):
            options.append("-S")
        self._tmux("paste-buffer", "-d", "-b", "paste", *options)

    def resize(self, width, height):
        self._tmux("resize-window", "-x", str(width), "-y", str(height))
        # tmux tells the program a while after it has changed the screen.
        with self._terminal() as terminal:
            self._until(lambda: tuple(os.get_terminal_size(terminal)) == (width, height),
                        "the terminal keeps its size")

    # What the person sees.

    def lines(self, history=False, escapes=False, joined=False):
        """The rows of the screen, without blanks at their ends and without empty rows at the end.
        `history`: with what has scrolled away; `joined`: wrapped rows as one."""
        text = self._tmux("capture-pane", "-p", *(["-S", "-"] if history else []),
                          *(["-e"] if escapes else []), *(["-J"] if joined else []))
        return [line.rstrip() for line in text.rstrip().split("\n")]

    def text(self, **how):
        return "\n".join(self.lines(**how))

    def cursor(self):
        """Column and row of the cursor, from 0."""
        return tuple(map(int, self._format("#{cursor_x} #{cursor_y}").split()))

    def record(self):
        """Keeps what the program writes from now on, for `recorded`: what stands on the screen for a moment only."""
        # A file of its own: what was recorded before may still be on its way.
        descriptor, self._record = tempfile.mkstemp(prefix="record-", dir=self._directory)
        os.close(descriptor)
        self._tmux("pipe-pane", f"exec cat >'{self._record}'")

    def recorded(self):
        return pathlib.Path(self._record).read_text(errors="replace")

    def echoes(self):
        """Whether the terminal itself shows what is typed."""
        with self._terminal() as terminal:
            return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

    def tty(self):
        return self._format("#{pane_tty}")

    def pid(self):
        return int(self._format("#{pane_pid}"))

    def exit_status(self):
        """None while the program runs; a signal as its negative number."""
        dead, status, number = self._format(
            "#{pane_dead},#{pane_dead_status},#{pane_dead_signal}").split(",")
        if dead != "1":
            return None
        if not (status or number):
            # The terminal was closed first; and tmux misses the signal now and then.
            self._server.send_signal(signal.SIGCHLD)
            return None
        return -int(number) if number else int(status)

    def wait_for(self, wanted, timeout=60, **how):
        """Looks until a text is on the screen, or until wanted(self) is true; returns that."""
        check = wanted if callable(wanted) else lambda s: wanted in s.text(**how)
        name = getattr(wanted, "__name__", "") if callable(wanted) else repr(wanted)
        return self._until(lambda: check(self), f"waited in vain for {name}", timeout)

    def _until(self, check, complaint, timeout=60):
        deadline = time.monotonic() + timeout
        while True:
            answer = check()
            if answer:
                return answer
            if time.monotonic() > deadline:
                shown = "(no screen)"
                if self._serves():
                    shown = self.text() + f"\ncursor {self.cursor()}"
                raise AssertionError(f"{complaint}\n--- the screen:\n{shown}\n---")
            time.sleep(0.01)

    def _serves(self):
        return subprocess.run(self._base + ["show-options", "-s"], env=self._env, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    @contextlib.contextmanager
    def _terminal(self):
        terminal = os.open(self.tty(), os.O_RDONLY | os.O_NOCTTY)
        try:
            yield terminal
        finally:
            os.close(terminal)

    def _format(self, template):
        return self._tmux("display-message", "-p", template).strip()

    def _tmux(self, *arguments, stdin=None):
        done = subprocess.run(self._base + list(arguments), env=self._env, input=stdin, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"tmux {arguments[0]}: {done.stderr.strip()}")
        return done.stdout
