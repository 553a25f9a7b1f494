"""Shared by the tests of the interactive zksh: a server, and a root and a screen for each test."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from running_processes import children  # noqa: E402
from server import four_letter_word  # noqa: E402
from server_case import ServerTest  # noqa: E402
from tmux import Tmux  # noqa: E402
from waiting import wait_until  # noqa: E402
from zksh import ZKSH  # noqa: E402


def without_status(line):
    """A line of the screen without the last status in its prompt."""
    return re.sub(r"^(\[zk: [^]]*) ![0-9]+\]", r"\1]", line)


class ShellTest(ServerTest):
    # Sessions may be as short as a second, and may outlive a slow test.
    config = {"tickTime": "500", "maxSessionTimeout": "600000"}

    def environment(self):
        # A prompt that does not tell the last status: most tests know where a line ends, and not how.
        self.file("config/zksh/config", 'prompt = "[zk: %s(%S) %n%d%p%l] "\n')
        # A missing ~/.inputrc would let /etc/inputrc decide.
        return {"XDG_CONFIG_HOME": self.file("config"), "HOME": self.directory, "XDG_STATE_HOME": self.file("state"),
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
            screen = self.shell_screen(line)
        else:
            screen = self.screen_of(["sh", "-c", line + "; exit $?"])
        self.wait_prompt(screen, 0)
        (zksh,) = children(screen.pid())
        return screen, zksh

    def shell_screen(self, line, **how):
        """An interactive sh, in which a line was typed."""
        screen = self.screen_of(["sh", "-i"], **how)
        self.wait_shell(screen)
        screen.type(line + "\n")
        return screen

    @staticmethod
    def wait_shell(screen):
        screen.wait_for(lambda s: s.lines()[-1] == "$")

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
        """Nothing shows that a command runs but the cursor below its line, or the notice that stands there once it has
        waited for a second, and the terminal's own echo: a key that comes before belongs to the line editor still."""
        screen.wait_for(lambda s: (s.cursor()[0] == 0 or s.lines()[-1].startswith("waiting for ")) and s.echoes())

    @staticmethod
    def wait_continued(screen, zksh):
        """After `fg` in the screen's shell: that has given the terminal away, and zksh is stopped no more."""
        def is_continued(_):
            with open(f"/proc/{zksh}/stat", encoding="ascii", errors="replace") as stat:
                state, _, _, _, _, foreground = stat.read().rpartition(")")[2].split()[:6]
            return state != "T" and int(foreground) != screen.pid()
        screen.wait_for(is_continued)

    def wait_watched(self, path):
        """A command waits for news of the node: the server has its watch."""
        wait_until(lambda: f"{self.root}{path}\n" in four_letter_word(self.server.port, "wchp"))

    def wait_gone(self, path, limit=15):
        """The node goes long before its session could time out."""
        self.assertTrue(self.znodes.await_gone(self.root + path, limit), f"{path} is still there")

    def wait_exit(self, screen, status):
        screen.wait_for(lambda s: s.exit_status() is not None)
        self.assertEqual(screen.exit_status(), status)
