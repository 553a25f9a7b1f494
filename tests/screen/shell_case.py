"""Shared by the tests of the interactive zksh: a server, and a root and a screen for each test."""
import os
import re
import shutil
import sys
import tempfile
import termios
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from server import Server  # noqa: E402
from tmux import Tmux  # noqa: E402
from znodes import Znodes  # noqa: E402

ZKSH = os.path.abspath(os.environ.get("ZKSH", "build/zksh"))


def without_status(line):
    """A line of the screen without the last status in its prompt."""
    return re.sub(r"^(\[zk: [^]]*) ![0-9]+\]", r"\1]", line)


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


class ShellTest(unittest.TestCase):
    """One server for a class; whoever stops it brings it back with server_is_back."""

    @classmethod
    def setUpClass(cls):
        # Sessions may be as short as a second, and may outlive a slow test.
        cls.server = Server({"tickTime": "500", "maxSessionTimeout": "60000"}).start()
        cls.addClassCleanup(cls.server.remove)
        cls.roots = 0

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="zksh-shell-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.addCleanup(self.server_is_back)
        type(self).roots += 1
        self.root = f"/t{self.roots}"
        with self.znodes() as znodes:
            znodes.create(self.root)
        self.connect = self.server.address + self.root

    def server_is_back(self):
        if self.server.process is None:
            self.server.start()
        self.server.thaw()

    def znodes(self):
        return Znodes(self.server.address)

    def environment(self):
        # A prompt that does not tell the last status: most tests know where a line ends, and not how.
        config = os.path.join(self.directory, "config", "zksh")
        os.makedirs(config, exist_ok=True)
        with open(os.path.join(config, "config"), "w", encoding="utf-8") as file:
            file.write('prompt = "[zk: %s(%S) %n%d%p%l] "\n')
        # A missing ~/.inputrc would let /etc/inputrc decide.
        return {"XDG_CONFIG_HOME": os.path.dirname(config),
                "HOME": self.directory, "XDG_STATE_HOME": os.path.join(self.directory, "state"),
                "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
                "PAGER": "cat", "ZKSH_PAGER": "cat", "PS1": "$ ", "ENV": ""}

    def screen_of(self, command, width=80, height=24, **env):
        screen = Tmux(command, width, height, env={**self.environment(), **env})
        self.addCleanup(screen.close)
        return screen

    def start(self, *arguments, server=None, **how):
        """zksh, connected to the test's root, with its first prompt on the screen."""
        screen = self.screen_of([ZKSH, "-s", server or self.connect, *arguments], **how)
        if server is None:
            self.wait_prompt(screen, 0)
        return screen

    def start_below_sh(self, *arguments, job_control=False):
        """As start, but a child of sh: tmux would continue a child of its own that is stopped."""
        line = " ".join([ZKSH, "-s", self.connect, *arguments])
        if job_control:
            screen = self.screen_of(["sh", "-i"])
            screen.wait_for("$")
            screen.type(line + "\n")
        else:
            screen = self.screen_of(["sh", "-c", line + "; exit $?"])
        self.wait_prompt(screen, 0)
        return screen, children(screen.pid())[0]

    def prompt(self, number, state="CONNECTED", server=None):
        """As the shell has it: of several servers the first, and how many more."""
        hosts, slash, chroot = (server or self.connect).partition("/")
        first, *more = hosts.split(",")
        return f"[zk: {first}{f',+{len(more)}' if more else ''}{slash}{chroot}({state}) {number}]"

    def wait_prompt(self, screen, number, state="CONNECTED", typed="", server=None):
        wanted = (self.prompt(number, state, server) + " " + typed).rstrip()
        # The last status is looked at where it is asked for: "1 !4".
        plain = without_status if isinstance(number, int) else str
        screen.wait_for(lambda s: plain(s.lines()[-1]) == wanted)

    def run_line(self, screen, line, number, state="CONNECTED"):
        """Types a line at prompt `number` and waits for the next; returns what was printed."""
        screen.type(line + "\n")
        self.wait_prompt(screen, number + 1, state)
        lines = screen.lines(history=True)
        typed = max(i for i, shown in enumerate(map(without_status, lines))
                    if shown.startswith("[zk: ") and f") {number}] " in shown)
        return lines[typed + 1:-1]

    @staticmethod
    def wait_running(screen):
        """Nothing shows that a command runs but the cursor below its line, and the terminal's own echo: a key
        that comes before belongs to the line editor still."""
        terminal = os.open(screen._format("#{pane_tty}"), os.O_RDONLY | os.O_NOCTTY)
        try:
            screen.wait_for(lambda s: s.cursor()[0] == 0 and termios.tcgetattr(terminal)[3] & termios.ECHO)
        finally:
            os.close(terminal)

    def wait_gone(self, path, limit=5):
        """The node goes long before its session could time out."""
        with self.znodes() as znodes:
            self.assertTrue(znodes.await_gone(self.root + path, limit), f"{path} is still there")

    def wait_exit(self, screen, status):
        screen.wait_for(lambda s: s.exit_status() is not None)
        self.assertEqual(screen.exit_status(), status)
