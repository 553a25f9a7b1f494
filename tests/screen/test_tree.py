"""tree on a terminal: colours for parents and ephemerals, none with NO_COLOR, no escapes from names."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from shell_case import ShellTest  # noqa: E402


class TreeOnATerminal(ShellTest):
    def setUp(self):
        super().setUp()
        with self.znodes() as znodes:
            znodes.create(self.root + "/a")
            znodes.create(self.root + "/a/\u202egpj")

    def test_draws_names_escaped(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "tree /a", 0), ["/a", "└── $'\\u202egpj'", "2 nodes, 0 ephemeral"])

    def test_colours(self):
        screen = self.start(NO_COLOR="")
        self.run_line(screen, "create -e /a/mine", 0)
        self.run_line(screen, "tree /a", 1)
        shown = screen.text(escapes=True)
        self.assertIn("\x1b[1m\x1b[34m/a", shown)
        self.assertIn("\x1b[33mmine", shown)


if __name__ == "__main__":
    unittest.main()
