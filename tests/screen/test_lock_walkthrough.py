"""The walkthrough of zksh-locks(7), a lock contended by hand: each screen compared with the real one."""
import os
import pathlib
import tempfile
import unittest

from tmux import Tmux
from server import needs
from walkthrough import Bindings, Player, blocks
from zksh import ZKSH

PAGE = pathlib.Path(__file__).resolve().parents[2] / "man" / "zksh-locks.7.in"
HEADING = ".SH WALKTHROUGH\n"


@needs(3, 6)  # watch events are counted
class LockWalkthrough(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-walk-"))
        os.mkdir(self.directory + "/bin")
        os.symlink(ZKSH, self.directory + "/bin/zksh")

    def terminal(self, _letter):
        environment = {"HOME": self.directory, "XDG_STATE_HOME": self.directory + "/state",
                       "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PS1": "$ "}
        # tmux gives its own PATH to what it starts.
        path = f"PATH={self.directory}/bin:{os.environ['PATH']}"
        screen = Tmux(["env", path, "bash", "--norc", "--noprofile"], 120, 50, env=environment)
        self.addCleanup(screen.close)
        screen.wait_for("$")
        return screen

    def test_the_screens_are_as_the_manual_shows_them(self):
        text = PAGE.read_text(encoding="utf-8")
        before, heading, rest = text.partition(HEADING)
        self.assertTrue(heading, "the page has no such section")
        section = "\n" * before.count("\n") + "\n" + rest.partition("\n.SH ")[0]
        # No session may expire but those that are meant to.
        section = section.replace("-t 4000", "-t 12000")
        self.assertGreater(len(blocks(section)), 4)
        Player(self.terminal).play(section)


class Comparing(unittest.TestCase):
    def test_values_may_differ_but_stay_what_they_are(self):
        bindings = Bindings()
        self.assertTrue(bindings.agree("behind host=db1 pid=4158 (for 3.1 s)",
                                       "behind host=vm pid=77   (for 0.2 s)"))
        self.assertEqual(bindings.translated("kill -9 4158"), "kill -9 77")
        self.assertFalse(bindings.agree("pid=4158", "pid=78"))
        self.assertFalse(bindings.agree("pid=4159", "pid=77"))
        self.assertFalse(bindings.agree("acquired /demo", "released /demo"))
        self.assertFalse(bindings.agree("waited=3.1s", "waited="))


if __name__ == "__main__":
    unittest.main()
