"""Tab inside the shell: one completion is typed, several are listed above the line, which stays as it is.
Nodes are fetched behind the line: no key waits for a server."""
import tempfile
import unittest

from shell_case import ZKSH, ShellTest
from distance import Distance
from tmux import Tmux
from waiting import comes_true


class Completion(unittest.TestCase):
    def setUp(self):
        home = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-completion-"))
        # No server is needed, and none may be waited for.
        self.screen = Tmux([ZKSH, "-s", "127.0.0.1:1"], width=60, height=20,
                           env={"HOME": home, "XDG_STATE_HOME": home, "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8",
                                "NO_COLOR": "1"})
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
        # Each with what it does, from the command's declaration.
        self.screen.wait_for("--recursive, -R  List the whole subtree, one path a line\n"
                             "--stat, -s       Print the node's Stat below the list\n")
        self.assertIn("--long, -l       A child a line, with version, size, number…\n", self.screen.text())
        self.screen.type("R")
        self.wait_typed("ls -R")

    def test_names_alone_where_there_is_little_room(self):
        self.screen.resize(36, 20)
        self.screen.type("ls -\t")
        self.screen.wait_for(lambda screen: [line.split() for line in screen.lines() if line.startswith("--h")] == [
            ["--help", "-S"], ["--human", "-h"]])
        self.screen.resize(120, 20)
        self.screen.keys("C-u")
        self.screen.type("lock -\t")
        self.screen.wait_for(lambda screen: any(line.startswith("--at-least ") and "--grace" in line
                                                for line in screen.lines()))

    def test_a_second_tab_walks_through_what_is_listed(self):
        self.screen.type("ls -\t")
        self.screen.wait_for("--human")
        for option in ("--by-size", "--by-time", "--help"):
            self.screen.keys("Tab")
            self.wait_typed(f"ls {option}")
        self.screen.keys("BTab")
        self.wait_typed("ls --by-time")
        self.screen.keys("BTab")
        self.screen.keys("BTab")
        self.wait_typed("ls -")
        self.screen.keys("BTab")
        self.wait_typed("ls -w")
        self.screen.type(" \t")
        self.wait_typed("ls -w /")

    def test_what_they_have_in_common_is_typed_first(self):
        self.screen.type("printwatches \t")
        self.wait_typed("printwatches o")

    def test_a_node_path_begins_without_a_blank_behind_it(self):
        self.screen.type("get \t")
        self.wait_typed("get /")


class NodePaths(ShellTest):
    def setUp(self):
        super().setUp()
        for path in ("/app", "/app/config", "/app/jobs", "/app/jobs/one", "/app/my node 1", "/app/my node 2",
                     "/app/say \"it's\"", "/app/line\u202eend"):
            self.znodes.create(self.root + path)

    def is_typed(self, screen, number, text, server=None):
        """Whether the line is this, blanks at its end included."""
        shown = self.prompt(number, server=server) + " " + text
        return screen.lines()[-1] == shown.rstrip() and screen.cursor()[0] == len(shown)

    def wait_typed(self, screen, number, text):
        screen.wait_for(lambda s: self.is_typed(s, number, text))

    def complete(self, screen, number, line, wanted, server=None):
        """Types a line and Tab, which ends a name with nothing where its kind does not come soon, as on a busy machine:
        again then."""
        def completes(s):
            s.keys("C-u")
            self.wait_prompt(s, number, server=server)
            s.type(line + "\t")
            return comes_true(lambda: self.is_typed(s, number, wanted, server), 5)
        screen.wait_for(completes, timeout=40)  # after 60 s a list would be read again whatever has changed

    def list_with_marks(self, screen, line, marked):
        """Tab lists names alone where their kinds do not come soon, as on a busy machine: again then."""
        def lists(s):
            return sum("line\\u202eend" in shown for shown in s.lines(history=True))

        def is_listed(s):
            before = lists(s)
            s.keys("C-u")
            s.keys("Enter")  # Tab would walk through what is listed
            s.type(line + "\t")
            s.wait_for(lambda now: lists(now) > before)
            return marked(s)
        screen.wait_for(is_listed)

    def test_ls_and_tab_colour_parents_and_ephemerals_alike(self):
        # tmux writes the sequences in its own way, and carries them over the ends of lines.
        jobs, worker = "\033[1m\033[34mjobs/", "\033[33mworker*"
        screen = self.start(width=120, NO_COLOR="")
        screen.type("create -e /app/worker\nls /app\n")
        self.wait_prompt(screen, 2)
        self.list_with_marks(
            screen, "ls /app/", lambda s: min(map(s.text(escapes=True).count, (jobs, worker))) >= 2)
        self.assertNotRegex(screen.text(escapes=True), r"\033\[(1|3[0-7])mconfig ")

    def test_enter_behind_tab_waits_for_the_completion(self):
        screen = self.start(width=120)
        self.znodes.set(self.root + "/app/config", b"the value")

        def runs(s):
            """The Enter is dropped where the server takes long, as on a busy machine: again then."""
            s.type("get /app/c\t\n")
            s.wait_for(lambda now: now.lines()[-1] in (self.prompt(0) + " get /app/config", self.prompt(1)))
            s.keys("C-u")
            s.wait_for(lambda now: now.lines()[-1] in (self.prompt(0), self.prompt(1)))
            return s.lines()[-1] == self.prompt(1)
        screen.wait_for(runs)
        self.assertEqual(screen.lines()[-3:-1], [self.prompt(0) + " get /app/config", "the value"])

    def test_enter_behind_tab_runs_nothing_where_several_are_meant(self):
        screen = self.start(width=120)
        screen.type("deleteall -y /app/m\t\n")
        self.wait_prompt(screen, 0, typed="deleteall -y \"/app/my node")
        screen.keys("Tab")
        screen.wait_for(lambda s: s.lines()[-2:-1] == ["my node 1  my node 2"])
        self.wait_prompt(screen, 0, typed="deleteall -y \"/app/my node")

    def test_enter_behind_tab_runs_nothing_where_no_server_answers(self):
        screen = self.start(width=120)
        self.server.freeze()
        screen.type("delete /app/c\t\n")
        screen.wait_for("delete /app/c  … asking the server")
        screen.type("onfig")
        self.wait_prompt(screen, 0, typed="delete /app/config")

    def test_commands_behind_others_are_completed(self):
        screen = self.start(width=120)
        screen.type("ls /; printw\t")
        self.wait_prompt(screen, 0, typed="ls /; printwatches")

    def test_the_only_one_is_typed_with_a_slash_where_it_goes_on(self):
        screen = self.start(width=120)
        self.complete(screen, 0, "get /a", "get /app/")
        self.complete(screen, 0, "get /app/c", "get /app/config ")
        self.complete(screen, 0, "get /app/j", "get /app/jobs/")

    def test_several_are_listed_with_marks(self):
        screen = self.start(width=160)
        self.run_line(screen, "create -e /app/mine x", 0)
        self.list_with_marks(
            screen, "ls /app/", lambda s: any({"mine*", "jobs/", "config"} <= set(line.split()) for line in s.lines()))
        self.wait_typed(screen, 1, "ls /app/")
        self.assertIn("line\\u202eend", screen.text())

    def test_what_is_typed_is_read_back_as_the_same_path(self):
        screen = self.start(width=120)
        for start, typed in (("/app/s", """$'/app/say "it\\'s"' """), ("/app/l", "$'/app/line\\u202eend' "),
                             ("/app/m\t1", '"/app/my node 1" '), ("'/app/m\t2", "'/app/my node 2' ")):
            with self.subTest(typed):
                self.complete(screen, 0, f"get -s {start}", f"get -s {typed}")

    def test_what_others_create_and_delete_is_known(self):
        screen = self.start(width=120)
        self.complete(screen, 0, "get /app/c", "get /app/config ")
        self.znodes.delete(self.root + "/app/config")
        self.znodes.create(self.root + "/app/constable")
        self.complete(screen, 0, "get /app/c", "get /app/constable ")

    def test_a_held_lock(self):
        screen = self.start(width=120)
        screen.type("lock -q /app/jobs\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith("1 locked /app/jobs]"))
        screen.type("unlock \t")
        screen.wait_for(lambda s: s.lines()[-1].endswith("] unlock /app/jobs"))

    def test_the_present_value(self):
        self.znodes.create(self.root + "/app/greeting", b"hello 'you'")
        screen = self.start(width=120)
        screen.type("set /app/greeting \t")
        self.wait_typed(screen, 0, "set /app/greeting \"hello 'you'\" ")
        screen.keys("Enter")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.znodes.get(self.root + "/app/greeting"), b"hello 'you'")

    def test_acls_part_by_part(self):
        screen = self.start(width=120)
        screen.type("setAcl /app w\t\t")
        self.wait_typed(screen, 0, "setAcl /app world:anyone:")
        screen.type("cdrw\t")
        self.wait_typed(screen, 0, "setAcl /app world:anyone:cdrwa ")

    def test_acl_entries_to_add_and_to_remove(self):
        screen = self.start(width=120)
        screen.type("setAcl --add w\t\tr\t")
        self.wait_typed(screen, 0, "setAcl --add world:anyone:r")
        screen.wait_for("ra  rc  rd  rw")
        screen.keys("C-u")
        # What the node has, without hashes; after it is known which node.
        self.run_line(screen, "setAcl /app world:anyone:cdrwa,digest:ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=:r,ip:10.0.0.1:r", 0)
        screen.type("setAcl /app --remove d\t")
        self.wait_typed(screen, 1, "setAcl /app --remove digest:ann ")
        screen.keys("C-u")
        screen.type("setAcl /app --remove ip:10.0.0.1,\t")
        screen.wait_for(lambda s: any(line.split() == ["digest:ann", "ip:10.0.0.1", "world:anyone"] for line in s.lines()))
        screen.keys("C-u")
        screen.type("setAcl --remove sa\t")
        self.wait_typed(screen, 1, "setAcl --remove sasl:")

    def test_many_children_show_a_page_and_the_count(self):
        self.znodes.create(self.root + "/big")
        for number in range(1200):
            self.znodes.create(f"{self.root}/big/node-{number:05}")
        screen = self.start(width=120, height=20)
        screen.type("get /big/\t")
        self.wait_typed(screen, 0, "get /big/node-0")
        screen.keys("Tab")
        screen.wait_for(lambda s: any(line.startswith("… and 11") for line in s.lines()))
        self.assertIn("node-00000", screen.text())
        self.wait_typed(screen, 0, "get /big/node-0")

    def test_a_frozen_server_keeps_no_key(self):
        screen = self.start(width=120)
        self.complete(screen, 0, "get /app/c", "get /app/config ")
        self.server.freeze()
        screen.keys("C-u")
        screen.type("get /app/jobs/\t")
        screen.wait_for(lambda s: s.lines()[-1].endswith("get /app/jobs/  … asking the server"))
        screen.type("o")
        self.wait_typed(screen, 0, "get /app/jobs/o")
        self.server.thaw()
        # The line is another one by now: nothing may happen to it.
        screen.keys("Tab")
        self.wait_prompt(screen, 0, typed="get /app/jobs/one")

    def test_an_answer_that_comes_late_completes_the_line(self):
        screen = self.start(width=120)
        self.server.freeze()
        screen.type("get /app/c\t")
        screen.wait_for(lambda s: s.lines()[-1].endswith("get /app/c  … asking the server"))
        self.server.thaw()
        self.wait_prompt(screen, 0, typed="get /app/config")  # the blank behind it takes its kind, too

    def test_a_server_far_away_shows_where_it_goes_on(self):
        with Distance(self.server.port, one_way=0.2) as far:
            screen = self.start(width=120, server=far.address + self.root)
            self.wait_prompt(screen, 0, server=far.address + self.root)
            self.complete(screen, 0, "get /app/j", "get /app/jobs/", far.address + self.root)

    def test_without_a_connection_nothing_happens(self):
        screen = self.start(server="127.0.0.1:1")
        self.wait_prompt(screen, 0, "CONNECTING", server="127.0.0.1:1")
        screen.type("get /a\tb")
        self.wait_prompt(screen, 0, "CONNECTING", "get /ab", server="127.0.0.1:1")


if __name__ == "__main__":
    unittest.main()
