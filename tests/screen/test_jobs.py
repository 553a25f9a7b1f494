"""Commands about commands: background jobs, stopping zksh, timing, repeat."""
import json
import subprocess
import unittest

from shell_case import ZKSH, ShellTest


class Stop(ShellTest):
    def test_a_stop_warns_of_held_locks(self):
        screen, _ = self.start_below_sh(job_control=True)
        screen.type("lock /l\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith("1 locked /l]"))
        screen.keys("C-z")
        screen.wait_for(lambda s: s.lines()[-1] == "$" and "while zksh is stopped" in s.text())
        warning = [line for line in screen.lines() if line.startswith("warning: ")]
        self.assertRegex(warning[0],
                         r"^warning: locked /l; while zksh is stopped, the locks last at most \d+s$")
        screen.type("fg\n")
        screen.wait_for(lambda s: s.lines()[-1].startswith("[zk: "))


    def test_a_command_that_only_watches_goes_to_the_background(self):
        screen = self.start()
        screen.type("watch /a\n")
        screen.wait_for("watching /a; press Ctrl-C to stop")
        screen.keys("C-z")
        screen.wait_for("[1] watch /a")
        self.wait_prompt(screen, 1)
        screen.type("wait --exists /b\n")
        self.wait_watched("/b")
        screen.keys("C-z")
        screen.wait_for("[2] wait --exists /b")
        self.wait_prompt(screen, 2)
        listed = self.run_line(screen, "jobs", 2)
        self.assertRegex(listed[0], r"^\[1\] running for [\d.]+s: watch /a$")
        self.assertRegex(listed[1], r"^\[2\] running for [\d.]+s: wait --exists /b$")
        job = json.loads(self.run_line(screen, "jobs -o json", 3)[1])
        self.assertEqual((job.pop("job"), job.pop("state"), job.pop("text")), (2, "running", "wait --exists /b"))
        self.assertEqual(list(job), ["seconds"])
        screen.type("create /a\n")
        screen.wait_for("created  /a  version 0")
        self.wait_prompt(screen, 5)
        screen.type("create /b\n")
        screen.wait_for("[2] done: wait --exists /b")
        self.wait_prompt(screen, 6)
        screen.type("kill %1\n")
        screen.wait_for("[1] killed: watch /a")
        self.wait_prompt(screen, 7)

    def test_one_that_was_moved_comes_back(self):
        screen = self.start()
        screen.type("wait --exists /b\n")
        self.wait_watched("/b")
        screen.keys("C-z")
        self.wait_prompt(screen, 1)
        screen.type("fg\n")
        screen.wait_for(lambda s: "wait --exists /b" in s.lines())
        self.znodes.create(self.root + "/b")
        self.wait_prompt(screen, 2)
        self.assertNotIn("done:", screen.text())

    def test_ctrl_z_leaves_what_fg_waits_for(self):
        screen = self.start()
        screen.type("wait --exists /b &\n")
        screen.wait_for("[1] wait --exists /b")
        self.wait_prompt(screen, 1)
        screen.type("fg\n")
        screen.wait_for(lambda s: "wait --exists /b" in s.lines())
        screen.keys("C-z")
        screen.wait_for(lambda s: s.lines().count("[1] wait --exists /b") == 2)
        self.wait_prompt(screen, 2)
        self.znodes.create(self.root + "/b")
        screen.wait_for("[1] done: wait --exists /b")
        self.wait_prompt(screen, 2)

    def holder(self, *options):
        holder = subprocess.Popen([ZKSH, "-s", self.connect, "lock", "--hold", *options, "/l"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(holder.communicate)
        return holder

    def moved_from_the_queue(self):
        """The process that holds /l, and the screen of a shell whose `lock /l` waits in the background."""
        holder = self.holder()
        holder.stdout.readline()
        screen = self.start(width=120)
        screen.type("lock /l\n")
        screen.wait_for("waiting /l")
        screen.keys("C-z")
        return holder, screen

    def test_a_lock_that_stands_in_its_queue_goes_to_the_background(self):
        holder, screen = self.moved_from_the_queue()
        screen.wait_for("[1] lock /l")
        screen.wait_for("/l: still asked for; this shell holds it when its turn comes; `unlock /l` leaves the queue")
        self.wait_prompt(screen, 1)
        holder.terminate()
        screen.wait_for("acquired /l")
        screen.wait_for("[1] done: lock /l")
        screen.wait_for(lambda s: s.lines()[-1].endswith("1 locked /l]"))

    def test_a_queue_that_is_left_from_the_background(self):
        _, screen = self.moved_from_the_queue()
        self.wait_prompt(screen, 1)
        screen.type("unlock /l\n")
        self.wait_prompt(screen, 2)
        screen.wait_for("[1] exited with status 130: lock /l")
        self.assertEqual(len(self.znodes.children(self.root + "/l")), 1)

    def test_a_picture_of_a_lock_goes_to_the_background(self):
        screen = self.start(width=100, height=40)
        screen.type("locks -w /l\n")
        screen.wait_for("/l  missing")
        screen.keys("C-z")
        screen.wait_for("[1] locks -w /l")
        self.wait_prompt(screen, 1)
        screen.type("get /typed")
        self.holder("--id", "somebody")
        screen.wait_for("somebody")
        self.wait_prompt(screen, 1, typed="get /typed")

    def test_one_with_a_program_is_not_moved(self):
        screen, zksh = self.start_below_sh(job_control=True)
        screen.type("watch -x true /a\n")
        screen.wait_for("watching /a")
        screen.keys("C-z")
        screen.wait_for("zksh is stopped together with its command, which may need the terminal;")
        self.wait_shell(screen)
        screen.type("fg\n")
        self.wait_continued(screen, zksh)
        screen.keys("C-c")
        self.wait_prompt(screen, 1)


class Jobs(ShellTest):
    def start_job(self, screen, line, number, job):
        screen.type(line + " &\n")
        screen.wait_for(f"[{job}] {line}")
        self.wait_prompt(screen, number + 1)

    def test_jobs_are_listed_and_ended(self):
        screen = self.start()
        self.start_job(screen, "repeat --every 1000s stat /", 0, 1)
        self.start_job(screen, "repeat --every 1000s ls /", 1, 2)
        screen.wait_for(lambda s: "[2] []" in s.lines() and "[1] numChildren = 0" in s.lines())
        self.wait_prompt(screen, 2)
        listed = [json.loads(line)["text"] for line in self.run_line(screen, "jobs -o json", 2)]
        self.assertEqual(listed, ["repeat --every 1000s stat /", "repeat --every 1000s ls /"])
        self.assertEqual(self.run_line(screen, "kill", 3), ["which job? There are 2; `jobs` lists them"])
        screen.type("kill %2\n")
        screen.wait_for("[2] killed: repeat --every 1000s ls /")
        self.wait_prompt(screen, 5)
        self.assertEqual(self.run_line(screen, "kill %2", 5),
                         ["no such job: %2; `jobs` lists them"])
        screen.type("kill %\t")
        self.wait_prompt(screen, 6, typed="kill %1")
        screen.type("\n")
        screen.wait_for("[1] killed: ")
        self.wait_prompt(screen, 7)
        self.assertEqual(self.run_line(screen, "jobs", 7), [])
        self.assertEqual(self.run_line(screen, "fg", 8), ["there are no background jobs"])

    def check_line(self, screen, *above):
        """What was printed stands above the typed line, which is as it was."""
        screen.wait_for(lambda s: set(above) <= set(s.lines()[:-1]) and s.lines()[-1].endswith("] get /typed"))

    def test_connect_asks_before_it_ends_jobs_and_locks(self):
        screen = self.start()
        screen.type("create /n x\nwatch /n &\nlock -q /l\n")
        screen.wait_for(lambda s: s.lines()[-1].endswith("3 locked /l]"))
        question = "This ends job %1 (watch /n), the lock /l. Go on? [y/N]"
        screen.type("connect\n")
        screen.wait_for(question)
        screen.type("n\n")
        screen.wait_for(lambda s: s.lines()[-1].startswith("[zk: ") and " 4 locked /l" in s.lines()[-1])
        self.wait_watched("/n")
        screen.type("set /n y\n")
        screen.wait_for("changed  /n")
        self.assertTrue([line for line in screen.lines() if line.startswith("[1] ") and "changed  /n" in line])
        screen.type("close\n")
        screen.wait_for(lambda s: s.text().count(question) == 2)
        screen.type("y\n")
        screen.wait_for("[1] killed: watch /n")
        screen.wait_for("lost /l: the session was closed")
        self.assertNotIn("not connected;", screen.text())

    def test_what_programs_print_stands_above_the_typed_line(self):
        screen = self.start(width=120)
        go_on = self.fifo("go-on")
        screen.type(f"lock -q /l -- sh -c 'printf half; read x <{go_on}; echo \" a line\"; echo wrong >&2' &\n")
        screen.wait_for(lambda s: "locked /l]" in s.lines()[-1])
        screen.type("get /typed")
        self.file("go-on", "\n")
        self.check_line(screen, "half a line", "wrong")

    def test_what_commands_about_a_lock_print_stands_above_the_typed_line(self):
        screen = self.start(width=120)
        screen.type("lock --on-revoke 'echo REVOKED; echo loudly >&2' --on-lost 'echo LOST' /l\n")
        screen.wait_for(lambda s: "locked /l]" in s.lines()[-1])
        screen.type("get /typed")
        for line, printed in (("revoke /l", "REVOKED loudly"), ("deleteall -y /l", "LOST")):
            subprocess.run([ZKSH, "-s", self.connect, "-c", line], check=True, timeout=60, stdout=subprocess.DEVNULL)
            self.check_line(screen, *printed.split())

    def test_ctrl_c_ends_the_job_that_is_waited_for(self):
        screen = self.start()
        self.start_job(screen, "repeat --every 1000s get /", 0, 1)
        screen.type("fg\n")
        screen.wait_for(lambda s: s.lines().count("repeat --every 1000s get /"))
        screen.keys("C-c")
        self.wait_prompt(screen, 2)
        self.assertNotIn("killed", screen.text())
        self.assertEqual(self.run_line(screen, "jobs", 2), [])

    def test_fg_ends_with_the_job(self):
        screen = self.start()
        fifo = self.fifo("fifo")
        self.start_job(screen, f"pwd > {fifo}", 0, 1)
        screen.type("fg %1\n")
        screen.wait_for(lambda s: s.lines()[-1] == f"pwd > {fifo}")
        self.assertEqual(self.text("fifo"), "/\n")
        self.wait_prompt(screen, 2)

    def test_a_secret_is_not_listed(self):
        screen = self.start()
        self.start_job(screen, "repeat --every 1000s getAcl /", 0, 1)
        screen.type("repeat --every 1000s setAcl / digest:ann:topsecret=:cdrwa &\n")
        screen.wait_for("[2] repeat --every 1000s setAcl / digest:ann:***:cdrwa")
        self.wait_prompt(screen, 2)
        self.assertNotIn("topsecret", "\n".join(self.run_line(screen, "jobs", 2)))


class LinesRunAgain(ShellTest):
    """A line runs as it was typed, also where another command runs it: & is no word of it."""

    def test_redo(self):
        screen = self.start()
        self.run_line(screen, "create /a x", 0)
        self.assertEqual(self.run_line(screen, "wait --exists /b &", 1), ["[1] wait --exists /b"])
        self.assertEqual(self.run_line(screen, "redo 1", 2), ["[2] wait --exists /b"])
        self.assertEqual(self.run_line(screen, "history 2", 3), ["2 - wait --exists /b &", "3 - history 2"])
        screen.type("redo 1 &\n")
        screen.wait_for("[3] a background job has no history; `!1 &` runs line 1 in the background")
        screen.wait_for("[3] exited with status 2: redo 1")
        self.wait_prompt(screen, 5)
        self.assertEqual(self.run_line(screen, "!1 &", 5), ["wait --exists /b & &", "[3] wait --exists /b"])
        self.assertEqual(self.run_line(screen, "get /a > /dev/null; ls / | tr a-z A-Z", 6), ["A"])
        self.assertEqual(self.run_line(screen, "redo 6", 7), ["A"])

    def test_redo_of_a_line_that_would_delete_more(self):
        screen = self.start()
        self.run_line(screen, "create '/&'", 0)
        self.run_line(screen, "create /a", 1)
        screen.type("deleteall -y /a &\n")
        screen.wait_for("[1] done: deleteall -y /a")
        self.wait_prompt(screen, 3)
        self.run_line(screen, "create /a", 3)
        screen.type("redo 2\n")
        screen.wait_for(lambda s: s.text().count("[1] done: deleteall -y /a") == 2)
        self.wait_prompt(screen, 5)
        self.assertEqual(self.run_line(screen, "ls /", 5), ["&"])

    def test_source_and_find(self):
        screen = self.start()
        self.run_line(screen, "create '/&'", 0)
        self.run_line(screen, "create -p /a/b", 1)
        lines = self.file("lines", "cd /a\nwait --exists c &\ncd /\n")
        self.assertEqual(self.run_line(screen, "source " + lines, 2), ["[1] wait --exists c"])
        screen.type("create /a/c\n")
        screen.wait_for("[1] done: wait --exists c")
        self.wait_prompt(screen, 4)
        screen.type("find /a -name b -exec 'deleteall -y {} &' \n")
        screen.wait_for("[1] done: deleteall -y /a/b")
        self.wait_prompt(screen, 5)
        self.assertEqual(self.run_line(screen, "ls -R /", 5), ["/", "/&", "/a", "/a/c"])

    def test_a_transaction_refuses_jobs(self):
        screen = self.start()
        screen.type("multi\n")
        screen.wait_for("multi 1>")
        screen.type("create /a &\n")
        screen.wait_for("in a transaction, nothing runs in the background (to use & as a value, quote it)")


class Timing(ShellTest):
    def test_the_time_comes_behind_the_output(self):
        screen = self.start()
        self.assertEqual(self.run_line(screen, "timing on", 0), [])
        shown = self.run_line(screen, "ls /", 1)
        self.assertEqual(shown[0], "[]")
        self.assertRegex(shown[1], r"^time: [\d.]+[mu]?s$")
        self.assertEqual(self.run_line(screen, "timing off", 2), [])
        self.assertEqual(self.run_line(screen, "ls /", 3), ["[]"])


if __name__ == "__main__":
    unittest.main()
