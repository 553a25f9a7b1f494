"""Tab inside the shell: one completion is typed, several are listed above the line, which stays as it is."""
import os
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tmux import Tmux  # noqa: E402

ZKSH = os.path.abspath(os.environ.get("ZKSH", "build/zksh"))


class Completion(unittest.TestCase):
    def setUp(self):
        home = tempfile.mkdtemp(prefix="zksh-completion-")
        self.addCleanup(shutil.rmtree, home)
        # No server is needed, and none may be waited for.
        self.screen = Tmux([ZKSH, "-s", "127.0.0.1:1"], width=60, height=20,
                           env={"HOME": home, "XDG_STATE_HOME": home, "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8"})
        self.addCleanup(self.screen.close)
        self.screen.wait_for("CONNECTING) 0]")

    def wait_typed(self, text):
        """Waits until the prompt's line is this, blanks at its end included."""
        def typed(screen):
            lines = [line for line in screen.lines() if line]
            return (lines and lines[-1].endswith("] " + text.rstrip())
                    and screen.cursor()[0] == len(lines[-1]) + len(text) - len(text.rstrip()))
        self.screen.wait_for(typed)

    def test_the_only_one_is_typed(self):
        self.screen.type("printw\to")
        self.wait_typed("printwatches o")

    def test_several_are_listed_above_the_line(self):
        self.screen.type("ls -\t")
        self.wait_typed("ls -")
        self.screen.wait_for(lambda screen: any(line.split() == ["--help", "-R", "-s", "-w"]
                                                for line in screen.lines()))
        self.screen.type("R")
        self.wait_typed("ls -R")

    def test_what_they_have_in_common_is_typed_first(self):
        self.screen.type("printwatches \t")
        self.wait_typed("printwatches o")

    def test_a_node_path_begins_without_a_blank_behind_it(self):
        self.screen.type("get \t")
        self.wait_typed("get /")


if __name__ == "__main__":
    signal.alarm(280)
    unittest.main()
