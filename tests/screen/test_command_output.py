"""Where a typed command's results go: a program, a file, the pager; and the terminal afterwards."""
import os
import re
import signal
import subprocess
import unittest

from shell_case import ZKSH, ShellTest
from distance import Distance

LONG = "0123456789" * 20


class OutputTest(ShellTest):
    def grow(self, count):
        for number in range(count):
            self.znodes.create(f"{self.root}/{LONG}-{number:03}")

    def program(self, screen, begin):
        """The pid of the program at the terminal whose words begin like this."""
        def find(_):
            listed = subprocess.run(["ps", "-t", screen.tty(), "-o", "pid=,args="],
                                    check=True, text=True, stdout=subprocess.PIPE).stdout
            for line in listed.splitlines():
                pid, words = line.split(maxsplit=1)
                if words.startswith(begin):
                    return int(pid)
            return None
        return screen.wait_for(find)

    def modes(self, screen):
        return subprocess.run(["stty", "-a", "-F", screen.tty()], check=True,
                              stdout=subprocess.PIPE).stdout

    @staticmethod
    def type_counted(screen, line):
        """Types a line, and waits until a count has been on the screen; it may be gone by now."""
        screen.record()
        screen.type(line + "\n")
        screen.wait_for(lambda s: re.search("[0-9]+ nodes, [0-9]+/s", s.recorded()))


class CommandOutput(OutputTest):
    def test_a_program_gets_exact_bytes(self):
        screen = self.start()
        self.run_line(screen, r"set / $'a\x1b[31m\x00b'", 0)
        self.assertEqual(self.run_line(screen, "get / | od -c | head -1", 1),
                         [r"0000000   a 033   [   3   1   m  \0   b  \n"])
        self.assertEqual(self.run_line(screen, "get /none | cat", 2),
                         ["Node does not exist: /none"])
        self.assertEqual(self.run_line(screen, "ls / | grep -q nothing", 3), [])
        self.assertEqual(self.run_line(screen, f"pwd > {self.directory}/f", 4), [])
        self.run_line(screen, f"pwd >> {self.directory}/f", 5)
        self.assertEqual(self.text("f"), "/\n/\n")

    def test_lists_have_the_form_that_fits_their_reader(self):
        for name in ("app", "app/config", *(f"node-{number:02}" for number in range(20))):
            self.znodes.create(f"{self.root}/{name}")
        screen = self.start(width=80)
        self.run_line(screen, "create -e /app/mine", 0)
        self.assertEqual(self.run_line(screen, "ls /app; ls /none; ls /app/config", 1),
                         ["config  mine*", "Node does not exist: /none"])
        self.assertEqual([line.split() for line in self.run_line(screen, "ls /", 2)],
                         [["app/", "node-02", "node-05", "node-08", "node-11", "node-14", "node-17"],
                          ["node-00", "node-03", "node-06", "node-09", "node-12", "node-15", "node-18"],
                          ["node-01", "node-04", "node-07", "node-10", "node-13", "node-16", "node-19"]])
        self.assertEqual(self.run_line(screen, "ls /app | sort -r", 3), ["mine", "config"])
        self.assertEqual(self.run_line(screen, "ls /app / | head -3", 4), ["/app/config", "/app/mine", "/app"])
        self.assertEqual(self.run_line(screen, f"ls /app > {self.directory}/f", 5), [])
        self.assertEqual(self.text("f"), "config\nmine\n")
        self.assertEqual(self.run_line(screen, "ls /app/config", 6), ["[]"])
        screen = self.start("-o", "zkcli")
        self.assertEqual(self.run_line(screen, "ls /app", 0), ["[config, mine]"])
        self.assertEqual(self.run_line(screen, "ls /app | cat", 1), ["[config, mine]"])

    def test_the_forms_of_zkcli_can_be_had_back(self):
        self.znodes.create(self.root + "/a")
        screen = self.start(width=200)
        self.run_line(screen, "setquota -n 5 /a", 0)
        for number, (setting, acl, quota, event) in enumerate((
                ("off", ["world:anyone:cdrwa"], ["nodes 1 of 5\tbytes 0\tok\t/a"], r"\d\d:\d\d:\d\d changed  /a"),
                ("on", ["'world,'anyone", ": cdrwa"],
                 [f"absolute path is /zookeeper/quota{self.root}/a/zookeeper_limits",
                  "Output quota for /a count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=-1",
                  "Output stat for /a count=1,bytes=0"],
                 r"WATCHER::\n\nWatchedEvent state:SyncConnected type:NodeDataChanged path:/a"))):
            first = 1 + 4 * number
            self.run_line(screen, f"conf zkcli-output {setting}", first)
            self.assertEqual(self.run_line(screen, "getAcl /a", first + 1), acl)
            self.assertEqual([line.split() for line in self.run_line(screen, "listquota /a", first + 2)],
                             [line.split() for line in quota])
            self.run_line(screen, "stat -w /a", first + 3)
            self.znodes.set(self.root + "/a", b"")
            screen.wait_for(lambda s: re.search(rf"(?m)^{event}$", s.text()))  # noqa: B023

    def test_the_screen_is_emptied(self):
        screen = self.start()
        self.run_line(screen, "version", 0)
        screen.type("clear\n")
        screen.wait_for(lambda s: s.lines(history=True) == [self.prompt(2)])

    def test_bytes_reach_a_terminal_only_when_asked_for(self):
        screen = self.start("-o", "plain")
        self.run_line(screen, r"set / $'a\x1b[31mb\n'", 0)
        self.assertEqual(self.run_line(screen, "get /", 1), [r"a\x1b[31mb"])
        self.assertEqual(self.run_line(screen, "get --raw /", 2), ["ab"])

    def test_the_settings_fit_a_narrow_terminal(self):
        lines = self.run_line(self.start(width=60), "conf", 0)
        self.assertTrue([line for line in lines if re.match(r"hints +=.*\(default\).*(…|\.\.\.)$", line)], lines)

    def test_a_program_has_the_terminal(self):
        """It reads keys, Ctrl-C is its own, and its end gives the terminal back."""
        screen = self.start()
        screen.type("pwd | { cat; read answer < /dev/tty; echo got $answer; }\n")
        screen.wait_for(lambda s: s.lines()[-1] == "/")
        screen.type("key\n")
        self.wait_prompt(screen, 1)
        self.assertIn("got key", screen.lines())
        screen.type("pwd | { cat; exec tail -f /dev/null; }\n")
        screen.wait_for(lambda s: s.lines()[-1] == "/")
        screen.keys("C-c")
        self.wait_prompt(screen, 2)

    def test_a_reader_that_has_enough_ends_the_command(self):
        self.grow(3)
        screen = self.start()
        self.assertEqual(self.run_line(screen, "ls -R / | head -1", 0), ["/"])
        # Nothing wakes this command but that its reader is gone.
        lines = self.run_line(screen, "locks --watch / | head -1", 1)
        self.assertEqual(len([line for line in lines if "has not answered in time" not in line]), 1, lines)

    def test_a_stopped_program_stops_zksh(self):
        screen, zksh = self.start_below_sh(job_control=True)
        screen.type("pwd | { cat; exec tail -f /dev/null; }\n")
        screen.wait_for(lambda s: s.lines()[-1] == "/")
        screen.keys("C-z")
        self.wait_shell(screen)
        screen.type("fg\n")
        self.wait_continued(screen, zksh)
        screen.keys("C-c")
        self.wait_prompt(screen, 1)

    def test_a_raw_program_that_is_killed_leaves_the_terminal_intact(self):
        screen = self.start()
        before = self.modes(screen)
        screen.type("pwd | { cat; stty raw -echo < /dev/tty; exec tail -f /dev/null; }\n")
        screen.wait_for(lambda s: b"-icanon" in self.modes(s))
        os.kill(self.program(screen, "tail"), signal.SIGKILL)
        self.wait_prompt(screen, 1)
        screen.wait_for(lambda s: self.modes(s) == before)

    def test_sigterm_ends_program_and_shell(self):
        screen = self.start()
        screen.type("pwd | { trap '' HUP; cat; exec tail -f /dev/null; }\n")
        screen.wait_for(lambda s: s.lines()[-1] == "/")
        os.kill(screen.pid(), signal.SIGTERM)
        self.wait_exit(screen, 128 + signal.SIGTERM)

    def test_in_the_background_it_prints_above_the_line(self):
        screen = self.start()
        fifo = self.fifo("fifo")
        screen.type(f"pwd | (read x < {fifo}; cat) &\n")
        self.wait_prompt(screen, 1)
        screen.type("get /some")
        self.wait_prompt(screen, 1, typed="get /some")
        self.file("fifo", "go\n")
        screen.wait_for("done: pwd")
        self.wait_prompt(screen, 1, typed="get /some")
        self.assertIn("/", screen.lines())


class LongWork(OutputTest):
    """What is read is counted on the terminal until there is something to print, and no trace is left."""

    def assert_counts(self, *words):
        screen = self.start()
        self.type_counted(screen, " ".join(words))
        self.wait_prompt(screen, 1)
        self.assertEqual(screen.lines()[-2], self.prompt(0) + " " + " ".join(words))

    def setUp(self):
        super().setUp()
        subprocess.run([ZKSH, "-s", self.connect, "fill", "-n", "1500", "/tree"], check=True, capture_output=True)

    def test_find_and_grep_without_a_hit(self):
        self.assert_counts("find", "/tree", "-name", "none", "--rate", "300")
        self.assert_counts("grep", "'no value'", "/tree", "--rate", "300")

    def test_a_search_for_locks(self):
        with Distance(self.server.port, one_way=0.05, rate=100_000) as far:
            address = far.address + self.root
            screen = self.start(server=address)
            self.wait_prompt(screen, 0, server=address)
            self.type_counted(screen, "locks -r /")
            self.wait_prompt(screen, 1, server=address)

    def test_differences_and_dumps_stand_alone(self):
        subprocess.run([ZKSH, "-s", self.connect, "-c", "fill -n 1500 /other; set /other/n0001499 x"], check=True, capture_output=True)
        screen = self.start()
        for number, (line, first) in enumerate((("diff /tree /other", "! /n0001499"), ("dump /tree", "zksh-tree"))):
            self.type_counted(screen, line + " --rate 300")
            self.wait_prompt(screen, number + 1)
            lines = screen.lines(history=True)
            self.assertTrue(lines[lines.index(self.prompt(number) + f" {line} --rate 300") + 1].startswith(first), lines[:9])

    def test_hits_stand_alone(self):
        screen = self.start()
        self.type_counted(screen, "find /tree -name 'n00014*' --rate 300")
        self.wait_prompt(screen, 1)
        self.assertEqual(screen.lines()[-3:-1], ["/tree/n0001498", "/tree/n0001499"])


class Pager(OutputTest):
    def start(self, *arguments, **how):
        return super().start(*arguments, ZKSH_PAGER="less -FIRX", **how)

    def test_long_output_is_paged_and_short_output_is_not(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "ls /", 0), ["[]"])
        self.grow(40)
        screen.type("ls -R /\n")
        screen.wait_for(lambda s: s.lines()[-1] == ":")
        self.assertEqual(screen.lines()[0], "/")
        screen.keys("q")
        self.wait_prompt(screen, 2)
        screen.type("help ls\n")
        screen.wait_for(lambda s: s.lines()[-1] in (":", self.prompt(3)))

    def test_what_was_counted_before_the_first_result_is_gone(self):
        subprocess.run([ZKSH, "-s", self.connect, "fill", "-n", "3000", "/tree"], check=True, capture_output=True)
        screen = self.start()
        self.type_counted(screen, "find /tree -name 'n0002*' --rate 500")
        screen.wait_for(lambda s: s.lines()[-1] == ":" and s.lines()[-2].startswith("/tree/n0002"))
        self.assertNotIn("nodes, ", screen.text())
        screen.keys("q")
        self.wait_prompt(screen, 1)

    def test_an_error_stands_between_the_results_that_it_came_between(self):
        screen = self.start()
        self.run_line(screen, "create /a x", 0)
        self.assertEqual(self.run_line(screen, "get /a /none /a", 1),
                         ["/a:", "x", "Node does not exist: /none", "", "/a:", "x"])
        missing = [f"/none{number}" for number in range(30)]  # more than the screen has lines
        self.assertEqual(self.run_line(screen, f"get /a {' '.join(missing)}", 2)[-32:],
                         ["/a:", "x"] + [f"Node does not exist: {path}" for path in missing])
        self.grow(40)
        screen.type("ls -R /none /\n")
        screen.wait_for(lambda s: s.lines()[-1] == ":")
        self.assertEqual(screen.text(history=True).count("Node does not exist: /none\n"), 2)
        screen.keys("q")
        self.wait_prompt(screen, 4)

    def test_events_wait_until_the_pager_is_left(self):
        screen = self.start()
        self.run_line(screen, "ls -w /", 0)
        self.znodes.create(self.root + "/new")
        self.wait_prompt(screen, 1)
        self.grow(40)
        self.run_line(screen, "get -w /new", 1)
        screen.type("ls -R /\n")
        screen.wait_for(lambda s: s.lines()[-1] == ":")
        self.znodes.set(self.root + "/new", b"x")
        self.znodes.create(self.root + "/later")
        screen.keys("Space")
        screen.wait_for(lambda s: s.lines()[-1] == ":" and s.lines()[0] != "/")
        self.assertNotIn("changed  /new", screen.text())
        screen.keys("q")
        screen.wait_for("changed  /new")
        self.wait_prompt(screen, 3)

    def test_a_killed_pager_leaves_the_terminal_intact(self):
        self.grow(40)
        screen = self.start()
        pagers = (("less -FIRX", "less"), ("less -FIRX; exit", "/bin/sh -c less"))
        for number, (pager, victim) in zip((0, 3), pagers):
            self.run_line(screen, f'conf pager "{pager}"', number)
            screen.type("ls -R /\n")
            screen.wait_for(lambda s: s.lines()[-1] == ":")
            os.kill(self.program(screen, victim), signal.SIGKILL)
            self.wait_prompt(screen, number + 2)
            self.assertEqual(self.run_line(screen, "get /none", number + 2), ["Node does not exist: /none"])

    def test_no_pager_on_a_screen_of_one_row(self):
        pager = f"touch {self.file('begun')}; cat"
        for height, begun in ((1, False), (4, True)):
            screen = super(Pager, self).start(height=height, ZKSH_PAGER=pager)
            screen.type("help\n")
            self.wait_prompt(screen, 1)
            self.assertEqual(os.path.exists(self.file("begun")), begun)

    def test_a_pager_that_is_missing_is_none(self):
        self.grow(40)
        screen = super(Pager, self).start(ZKSH_PAGER="no-such-pager -x")
        self.assertEqual(len(self.run_line(screen, "ls -R /", 0)), 41 * 3 - 2)


if __name__ == "__main__":
    unittest.main()
