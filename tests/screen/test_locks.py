"""locks -w: redrawn in place on every change, as wide as the screen; Ctrl-C returns to the prompt."""
import re
import unittest
import uuid

from shell_case import ShellTest
from znodes import Znodes

EPHEMERAL_SEQUENTIAL = 3


class AtThePrompt(ShellTest):
    def test_a_node_with_locks_below_it_and_several(self):
        self.znodes.create(self.root + "/jobs")
        screen = self.start(width=120)
        for number, line in enumerate(("lock -q /jobs/a", "lock -q /jobs/b")):
            screen.type(line + "\n")
            screen.wait_for(lambda s: f") {number + 1} locked" in s.lines()[-1])  # noqa: B023
        screen.type("locks /jobs\n")
        screen.wait_for(") 3 locked")
        self.assertRegex(screen.text(), r"path +kind +waiting +held by\n/jobs/a +exclusive +0 +\S+@\S+ \d+ zksh\n/jobs/b ")
        screen.type("clear; locks /jobs/a /jobs/b\n")
        screen.wait_for(") 4 locked")
        self.assertRegex(screen.text(), r"(?s)/jobs/a  exclusive  1 contender.*\n\n/jobs/b  exclusive  1 contender")

    def test_elect_gives_the_prompt_back_and_shows_who_leads(self):
        screen = self.start(width=160)
        self.assertEqual(self.run_line(screen, "elect /e", 0), ["/e has no leader"])
        self.assertFalse(self.znodes.exists(self.root + "/e"))
        screen.type("elect -q /e db1\n")
        screen.wait_for(") 2 locked /e]")
        screen.type("elect /e\n")
        screen.wait_for(") 3 locked /e]")
        self.assertEqual(screen.lines()[-2], "db1")
        self.assertEqual(len(self.znodes.children(self.root + "/e")), 1)
        screen.type("unlock /e\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith(") 4]"))


class LiveLocks(ShellTest):
    """Contenders are nodes and watches alone: what a picture shows does not depend on who made them."""

    def setUp(self):
        super().setUp()
        self.sessions = {}
        self.nodes = {}
        self.znodes.create(self.root + "/l")

    def join(self, owner, data=None):
        znodes = Znodes(self.server.address)
        self.addCleanup(znodes.connection.close)
        self.sessions[owner] = znodes
        self.nodes[owner] = znodes.create(f"{self.root}/l/_c_{uuid.uuid4()}-lock-",
                                          owner.encode() if data is None else data, EPHEMERAL_SEQUENTIAL)
        self.watch_the_one_before()

    def leave(self, owner):
        self.sessions[owner].delete(self.nodes.pop(owner))
        self.watch_the_one_before()

    def watch_the_one_before(self):
        for before, owner in zip(self.nodes.values(), list(self.nodes)[1:]):
            self.sessions[owner].exists(before, watch=True)

    def watch(self, *options, **how):
        screen = self.start(**how)
        screen.type(" ".join(["locks /l -w", *options]) + "\n")
        screen.wait_for("/l  ")
        return screen

    def wait_rows(self, screen, *rows):
        """The contenders' rows begin so, and there are no others."""
        def as_expected(screen):
            shown = [line.split() for line in screen.lines() if line.lstrip()[:1].isdigit()]
            shown = [words for words in shown if ":" not in words[0]]
            return [words[:4] for words in shown] == [row.split() for row in rows]
        screen.wait_for(as_expected)

    def assert_one_picture(self, screen):
        self.assertEqual(sum(line.startswith("/l  ") for line in screen.lines(history=True)), 1)

    def wait_not_wrapped(self, screen):
        """The two looks may have the drawing of a picture between them."""
        def is_not_wrapped(s):
            rows, lines = s.lines(), s.lines(joined=True)
            begins = [next(i for i, line in enumerate(of) if line.startswith("/l  ")) for of in (rows, lines)]
            return rows[begins[0]:] == lines[begins[1]:]
        screen.wait_for(is_not_wrapped)

    def test_follows_the_queue_in_its_place(self):
        screen = self.watch()
        screen.wait_for("0 contenders")
        self.join("alice")
        self.wait_rows(screen, "1 HOLDS excl alice")
        self.join("bob")
        self.join("carol")
        self.wait_rows(screen, "1 HOLDS excl alice", "2 waits excl bob", "3 waits excl carol")
        screen.wait_for("#1 ◄ #2 ◄ #3")
        self.leave("bob")
        self.wait_rows(screen, "1 HOLDS excl alice", "2 waits excl carol")
        self.leave("alice")
        self.wait_rows(screen, "1 HOLDS excl carol")
        screen.wait_for("2 contenders have left")
        self.assert_one_picture(screen)
        screen.keys("C-c")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.run_line(screen, "get /l", 1), [""])

    def test_fits_the_screen(self):
        for number in range(30):
            self.join(f"owner-{number} with a name that is longer than there is room for on a line")
        screen = self.watch()
        screen.wait_for("30 contenders")
        self.assert_one_picture(screen)
        screen.wait_for(" more")
        self.wait_not_wrapped(screen)

    def test_a_narrow_screen(self):
        self.join("alice")
        self.join("bob")
        screen = self.start(width=50)
        screen.type("locks /l -w\n")
        screen.wait_for("#1 ◄ #2")
        self.wait_not_wrapped(screen)
        screen.wait_for(lambda s: any(line.startswith("2  waits") and line.endswith("#1") for line in s.lines()))

    def test_tables_on_a_narrow_screen(self):
        screen = self.start(width=60, height=60, ZKSH_PAGER="cat")
        screen.type("contend /l -n 2 --compare\n")
        self.wait_prompt(screen, 1)
        names = [line.split()[0] for line in screen.lines() if line.startswith(("acquire,", "handoff "))]
        self.assertEqual(names, ["handoff", "acquire,"] * 2)
        screen.type("health -t 30s\n")
        self.wait_prompt(screen, 2)
        self.assertRegex(screen.text(), r"(?m)^server +role +behind .* state$")

    def test_names_keep_their_numbers(self):
        """At 80 columns, contenders' guids are cut short, and paths in the middle."""
        self.join("alice")
        self.join("bob")  # watches alice's node
        screen = self.start()
        screen.type("conf prompt '%n> '\nlock /a/path/that/is/rather/long/for/a/lock\n")
        rows = {}
        for number, line in enumerate(["locks", "locks -r /", "wchc", "wchc -p"], 2):
            screen.wait_for(lambda s, n=number: s.lines()[-1] == f"{n}>")
            screen.type(line + "\n")
            screen.wait_for(lambda s, n=number: s.lines()[-1] == f"{n + 1}>")
            lines = screen.lines()
            rows[line] = lines[lines.index(f"{number}> {line}") + 1:-1]
        self.assertRegex("\n".join(rows["locks"]), r"(?m)^HOLDS .* _c_[0-9a-f]{8}…-lock-0000000000$")
        self.assertRegex("\n".join(rows["locks -r /"]), r"(?m)^/a/path/that/is/rather/long/for/a/lock ")
        self.assertRegex("\n".join(rows["wchc"]), r"(?m)^0x\w+ .* 1  /t\d+/l/_c_[0-9a-f]{8}…-lock-0000000000$")
        self.assertRegex("\n".join(rows["wchc -p"]), r"(?m)^ +1  /t\d+/l/_c_[0-9a-f]{8}…-lock-0000000000 +0x\w+$")
        shown = rows["wchc"] + rows["wchc -p"]
        self.assertTrue(all(re.match("session|watches|0x| +1 ", row) for row in shown), "nothing is wrapped")
        screen.resize(60, 24)
        screen.type("locks\n")
        screen.wait_for(lambda s: s.lines()[-1] == "7>")
        self.assertRegex(screen.text(), r"(?m)^HOLDS  /a/path/\S*…\S*/a/lock  _c_[0-9a-f]{8}…-lock-0000000000$")

    def test_a_very_narrow_window(self):
        self.join("alice")
        self.join("bob")
        screen = self.start(width=40)
        screen.type("conf prompt '%n> '\nlock /a/path/that/is/rather/long/for/a/lock\n")
        screen.wait_for(lambda s: s.lines()[-1] == "2>")
        screen.type("locks\n")
        screen.wait_for(lambda s: s.lines()[-1] == "3>")
        self.assertRegex(screen.text(), r"(?m)^HOLDS  /a/pa…a/lock  _c_\w+…0{9}$")
        screen.type("wchc /l\n")
        screen.wait_for(lambda s: s.lines()[-1] == "4>")
        self.assertRegex(screen.text(), r"(?m)^0x\w+ +1  /\S+…\S*000000$")

    def test_a_window_that_is_made_narrower(self):
        self.join("alice")
        screen = self.watch(width=120)
        screen.wait_for(lambda s: "address" in s.text() and "alice" in s.text())
        for width in (60, 40):
            screen.resize(width, 24)
            # tmux itself moves rows to its history, which nobody can erase.
            screen.wait_for(lambda s: [s.text().count("/l  "), s.text().split().count("address"),
                                       s.text().count("alice")] == [1, 0, 1])

    def test_a_window_that_is_made_larger(self):
        self.join("alice")
        screen = self.watch(width=60)
        screen.wait_for(lambda s: "address" not in s.text().split() and "alice" in s.text())
        screen.resize(170, 24)
        screen.wait_for("should watch it")

    def test_ages_go_on(self):
        self.join("alice")
        screen = self.watch()

        def age(s):
            row = next((line for line in s.lines() if line.split()[1:2] == ["HOLDS"]), "")
            found = re.search(r" (\d+(?:\.\d)?)s ", row + " ")
            return float(found[1]) if found else 0
        first = screen.wait_for(age)
        screen.wait_for(lambda s: age(s) >= first + 2)
        self.assert_one_picture(screen)

    def test_an_owner_cannot_draw(self):
        self.join("evil", b"\x1b[2J\x1b]0;title\x07\r\nevil\xff")
        screen = self.watch()
        screen.wait_for(r"\x1b[2J")
        self.assert_one_picture(screen)

    def test_what_this_shell_waits_for_and_holds(self):
        self.join("alice")
        screen = self.start()
        screen.type("lock /l --id bob &\n")
        screen.wait_for("waiting /l: 2nd of 2")
        screen.type("locks\n")
        screen.wait_for(lambda s: any(line.startswith("waits  exclusive") and "2 of 2, behind alice" in line
                                      for line in s.lines()))
        self.leave("alice")
        screen.wait_for("acquired /l")
        screen.type("locks\n")
        screen.wait_for(lambda s: any(line.startswith("HOLDS  exclusive") for line in s.lines()))

    def test_a_herd_and_a_late_watch(self):
        """A contender that watches none of the others is drawn so, until it does."""
        self.join("alice")
        self.join("bob")
        screen = self.watch()
        screen.wait_for("#1 ◄ #2\n")
        watch, self.watch_the_one_before = self.watch_the_one_before, lambda: None
        self.join("carol")
        self.join("dave")
        screen.wait_for("#1 ◄ {#2 #3 #4}")
        screen.wait_for("list?: watches no")
        watch()
        screen.wait_for("#1 ◄ #2 ◄ #3 ◄ #4\n")

    def test_a_lock_that_comes_and_goes(self):
        self.znodes.delete(self.root + "/l")
        screen = self.watch()
        screen.wait_for("/l  missing")
        self.znodes.create(self.root + "/l")
        self.join("alice")
        self.wait_rows(screen, "1 HOLDS excl alice")
        self.leave("alice")
        self.znodes.delete(self.root + "/l")
        screen.wait_for("/l  missing")
        self.assert_one_picture(screen)

    def test_goes_on_when_the_server_is_back(self):
        self.join("alice")
        screen = self.watch()
        self.wait_rows(screen, "1 HOLDS excl alice")
        self.server.kill()
        screen.wait_for("connection")
        self.server.start()
        self.join("bob")
        screen.wait_for("bob")
        screen.keys("C-c")
        self.wait_prompt(screen, 1)

    def test_ctrl_c_while_no_server_answers(self):
        self.join("alice")
        screen = self.watch()
        self.wait_rows(screen, "1 HOLDS excl alice")
        self.server.freeze()
        screen.keys("C-c")
        screen.wait_for(lambda s: s.lines()[-1].endswith(" 1]"))


if __name__ == "__main__":
    unittest.main()
