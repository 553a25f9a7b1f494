"""tree on a terminal: colours for parents and ephemerals, none with NO_COLOR, no escapes from names."""
import unittest

from shell_case import ShellTest


class TreeOnATerminal(ShellTest):
    def setUp(self):
        super().setUp()
        self.znodes.create(self.root + "/a")
        self.znodes.create(self.root + "/a/\u202egpj")

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
