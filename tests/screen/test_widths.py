"""Terminals of all widths: what is left out, where lines break, and what a resize leaves behind."""
import re
import unittest

from shell_case import ShellTest


class Widths(ShellTest):
    def test_nothing_breaks_within_a_command(self):
        for path in ("/a", "/a/b"):
            self.znodes.create(self.root + path)
        screen = self.start(width=40)
        self.assertEqual(self.run_line(screen, "cp /a /c", 0)[-2:],
                         ["the nodes below /a were not copied", "(`cp -r` copies them, too)"])

    def test_health_leaves_columns_out_and_breaks_between_words(self):
        wide = self.run_line(self.start(width=200), "health -t 30s", 0)
        narrow = self.run_line(self.start(width=40), "health -t 30s", 0)[1:]  # the typed line has two rows
        self.assertEqual(wide[0].split(), ["server", "id", "role", "zxid", "behind", "conns", "pending", "avg/max",
                                           "ms", "version", "state"])
        self.assertEqual([line.split() for line in narrow[:2]],
                         [["server", "role", "state"], [self.server.address, "standalone", "serves"]])
        self.assertEqual(" ".join(narrow[2:]), " ".join(wide[2:]))

    def test_long_lists_leave_columns_out(self):
        self.znodes.create(self.root + "/l")
        for name in ("a", "_c_9b1d2c55-7d7e-4f0e-8a55-0c7a9b3b6f11-lock-0000000001"):
            self.znodes.create(f"{self.root}/l/{name}", b"12345")
        for width, titles, name in (
                (200, "version size children written owner name", "_c_9b1d2c55-7d7e-4f0e-8a55-0c7a9b3b6f11-lock-"),
                (80, "size children written owner name", "_c_9b1d2c55…-lock-0000000001"),
                (40, "size name", "_c_9b1d2c55…-lock-0000000001")):
            screen = self.start(width=width)
            shown = self.run_line(screen, "ls -l /l", 0)[-3:]
            self.assertEqual(shown[0].split(), titles.split())
            self.assertIn(name, shown[1])
        self.assertEqual(self.run_line(screen, "ls -lt /l", 1)[-3].split(), ["written", "name"])

    def test_a_resize_leaves_no_prompt_behind(self):
        screen = self.start(width=100)
        self.run_line(screen, "version", 0)
        for width in (60, 41, 33, 20, 80, 30, 100):
            screen.resize(width, 24)
            screen.type("x")
            screen.wait_for(lambda s: re.findall(r"\d\]x?", "".join(s.lines(history=True))) == ["0]", "1]"])
            screen.keys("BSpace")

    def test_the_open_quote_is_shown(self):
        screen = self.start()
        screen.type("create /a 'it\n")
        screen.wait_for(lambda s: s.lines()[-1] == "'>")
        screen.type("goes on'; create /b \"x\n")
        screen.wait_for(lambda s: s.lines()[-2:] == ["'> goes on'; create /b \"x", "\">"])
        screen.type("\"\n")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.znodes.get(self.root + "/a"), b"it\ngoes on")
        self.assertEqual(self.znodes.get(self.root + "/b"), b"x\n")

    def test_meanings_of_options_are_cut_after_a_word(self):
        screen = self.start(width=60)
        screen.type("ls -")
        screen.keys("Tab")
        screen.wait_for("--long, -l")
        cut = re.findall(r"(?m)^--\S+ \S+ +(.*)…$", screen.text())
        whole = self.run_line(self.start(width=200), "ls --help", 0)
        self.assertTrue(cut)
        for meaning in cut:
            self.assertRegex("\n".join(whole), rf"{re.escape(meaning)}[,:;]? ")

    def test_descriptions_of_settings_end_with_a_word_or_are_left_out(self):
        at = {width: self.run_line(self.start(width=width), "conf", 0) for width in (200, 80, 40)}
        wide, middle = at[200][0], at[80][0]
        self.assertRegex(wide, r"^admin-server = .* \(default\)  Where the AdminServers are, .* word$")
        self.assertEqual(middle[-1], "…")
        self.assertTrue(wide.startswith(middle[:-1]) and wide[len(middle) - 1] in " ,", middle)
        self.assertEqual({line.split()[-1] for line in at[40][-2:]}, {"(default)"})


if __name__ == "__main__":
    unittest.main()
