"""Help for newcomers: the first page of help, words of other shells, what to do about a refusal."""
import unittest

from shell_case import ZKSH, ShellTest


class Newcomer(ShellTest):
    def test_the_first_page_of_help_is_for_nodes(self):
        screen = self.start(ZKSH_PAGER="less -FIRX")
        screen.type("help\n")
        screen.wait_for(lambda s: s.lines()[-1] == ":")
        page = screen.lines()
        self.assertTrue(any("create /demo hello" in line for line in page), page)
        self.assertIn("Nodes", page)
        screen.type("q")
        self.wait_prompt(screen, 1)

    def test_words_of_other_shells(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "mkdir /a", 0), ["unknown command: mkdir; did you mean create?"])
        self.assertEqual(self.run_line(screen, "?", 1), ["unknown command: ?; did you mean help?"])

    def test_a_refusal_says_what_to_do(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "create /a/b", 0), ["Node does not exist: /a (`create -p` creates the parents, too)"])
        self.run_line(screen, "create /a", 1)
        self.run_line(screen, "create /a/b", 2)
        self.assertEqual(self.run_line(screen, "delete /a", 3),
                         ["Node not empty: /a (`deleteall` deletes the nodes below it, too)"])
        self.assertEqual(self.run_line(screen, "rm /a", 4),
                         ["Node not empty: /a (`rm -r` deletes the nodes below it, too)"])
        self.assertEqual(self.run_line(screen, "set /b x", 5), ["Node does not exist: /b (`create` creates it)"])
        self.assertEqual(self.run_line(screen, "set -v 9 /a x", 6),
                         ["version No is not valid : /a (the version is 0)"])

    def test_a_tree_begins_at_the_current_node(self):
        screen = self.start()
        self.run_line(screen, "create /a", 0)
        self.run_line(screen, "create /a/b", 1)
        screen.type("cd /a\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith(") 3 /a]"))
        screen.type("tree\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith(") 4 /a]"))
        self.assertEqual(screen.lines()[-4:-1], ["/a", "└── b", "2 nodes, 0 ephemeral"])

    def test_a_dumb_terminal_gets_no_escape(self):
        log = self.file("log")
        line = f"env TERM=dumb ZKSH_PAGER=less script -qfc '{ZKSH} -s {self.connect}' {log}"
        screen = self.screen_of(["sh", "-c", line])
        for number, typed in enumerate(["help", "create -e /a x", "tree /", "ls /"]):
            self.wait_prompt(screen, number)
            screen.type(typed + "\n")
        self.wait_prompt(screen, 4)
        with open(log, "rb") as file:
            self.assertNotIn(b"\x1b", file.read())


if __name__ == "__main__":
    unittest.main()
