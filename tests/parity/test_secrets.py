"""A password given to zksh in any way is found nowhere else afterwards."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server_case import ServerTest  # noqa: E402
from terminal import Terminal  # noqa: E402
from zksh import ZKSH, run_zksh  # noqa: E402

SECRET = "hunter2-Zq9"
NAMED = f"ann:{SECRET}"
# What the program behind | sees of zksh, of itself, and of their environments.
SEEN = "cat; tr '\\0' ' ' </proc/$PPID/cmdline; tr '\\0' ' ' </proc/$$/cmdline; tr '\\0' ' ' </proc/$$/environ; echo seen"
ACLS = [f"create /a x digest:{NAMED}:cdrwa", f"setAcl /b digest:{NAMED}:cdrwa,world:anyone:cdrwa",
        f"create /c x auth:{NAMED}:cdrwa", f"setAcl -R /b digest:{NAMED}:cdrwa,world:anyone:cdrwa",
        f"create --dry-run /d x digest:{NAMED}:cdrwa", f"create /d x digest:{NAMED}:nonsense", f"create /d x digest:{NAMED}",
        f"setAcl /b digest:{NAMED}:", f"setAcl /b x digest:{NAMED}:r", f"create /d x digest:{NAMED}:r digest:{NAMED}:r",
        f"creat /d x digest:{NAMED}:r", f"setAcl /none digest:{NAMED}:r", f"setAcl --nosuch /b digest:{NAMED}:r",
        f"create -t digest:{NAMED}:r /d", f"setAcl -v digest:{NAMED}:r /b world:anyone:r",
        f"setAcl /b 'digest:{NAMED}:r", f"setAcl /b $'digest:{NAMED}:r\\q'"]
CREDENTIALS = [f"addauth digest {NAMED}", f"addauth digest '{NAMED}'", f"addauth digest $'{NAMED}'", f"addauth digest {NAMED} extra",
               f"addauth digest ann:one {SECRET}", f"addauth {NAMED}", f"addauth digest:{NAMED}", f"addauh digest {NAMED}",
               f"ADDAUTH digest {NAMED}", f"addauth --nosuch digest {NAMED}", f"addauth digest {NAMED} --nosuch",
               f"addauth --file={NAMED}x digest {NAMED}", f"addauth digest '{NAMED}", f"addauth digest $'{NAMED}\\q'",
               f"addauth digest {NAMED} > /dev/null", f"addauth digest {NAMED} > /none/none", f"addauth digest {NAMED} | cat",
               f"repeat 2 addauth digest {NAMED}", f"repeat 2 addauh digest {NAMED}", f"repeat 2 addauth digest {NAMED} extra",
               f"repeat --evry addauth digest {NAMED}", f"help addauth digest {NAMED}", f"timing addauth digest {NAMED}",
               f"digest ann {SECRET}", f"digest ann {SECRET} | cat", f"digest {NAMED}", f"repeat 2 digest ann {SECRET}",
               f"repeat --every 1s 2 digest ann {SECRET}", f"help digest ann {SECRET}"]


class Secrets(ServerTest):
    def setUp(self):
        super().setUp()
        self.znodes.create(self.root + "/b")
        self.credentials = self.file("credentials", f"digest {NAMED}\n")
        self.one = self.file("one", f"{NAMED}\n")
        self.configure('prompt = "%n-ready> "\n')
        self.file("inputrc", "set bell-style none\n")

    def configure(self, text):
        return self.file("zksh/config", text)

    def environment(self):
        return {"HOME": self.directory, "XDG_CONFIG_HOME": self.directory, "XDG_STATE_HOME": self.directory,
                "INPUTRC": self.file("inputrc"), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "xterm",
                "ZKSH_PAGER": "cat", "PATH": os.environ["PATH"], "ZKSH_SERVER": self.connect}

    def shell(self, *options):
        shell = Terminal([ZKSH, *options], self.environment())
        self.addCleanup(shell.__exit__)
        self.at = shell.read_until(rb"0-ready> ")
        self.number = 0
        return shell

    def enter(self, shell, line, wait=True):
        """Types a line; returns what zksh prints behind it, to the next prompt and with that."""
        begin = shell.enter(line)
        if line.count("'") % 2 == 1:  # the quote goes on in a second line, and is closed there
            shell.enter("'")
        if not wait:
            return b""
        self.at = shell.read_until(rb"\d+-ready> ", begin)
        self.number = int(re.findall(rb"(\d+)-ready> ", shell.bytes[:self.at])[-1])
        return shell.bytes[begin:self.at]

    def check(self, text, about):
        text = text if isinstance(text, str) else text.decode(errors="replace")
        self.assertEqual([], [line for line in text.splitlines() if SECRET in line], about)

    def check_processes(self):
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    self.check(file.read(), process)
            except OSError:
                pass

    def check_history(self, expected):
        text = self.text("zksh/history")
        self.check(text, "the history file")
        self.assertIn(expected, text)
        self.assertEqual(0o600, os.stat(self.file("zksh/history")).st_mode & 0o777)

    def enter_all(self, *options):
        shell = self.shell(*options)
        for line in (*CREDENTIALS, *ACLS):
            with self.subTest(line=line, options=options):
                self.check(self.enter(shell, line), "printed")
                for again in ("!!", f"redo {self.number - 1}"):
                    self.check(self.enter(shell, again), again)
        self.check(self.enter(shell, "history 500"), "history")
        self.check(self.enter(shell, "whoami"), "whoami")
        self.check_processes()
        shell.type("\x04")
        shell.finish()

    def test_typed_lines(self):
        self.enter_all()
        self.check_history("history 500")

    def test_typed_lines_as_json(self):
        self.enter_all("-o", "json")

    def test_it_does_not_come_back_as_a_hint_a_completion_or_by_arrow_up(self):
        shell = self.shell()
        self.enter(shell, f"addauth digest {NAMED}")
        for keys, shown in (("\x1b[A", "addauth"), ("addauth dig", "dig"), ("addauth digest ann:", "ann:"), ("\x12auth", "auth"),
                            ("addauth digest a\t\t", " a")):
            with self.subTest(keys=keys):
                begin = len(shell.bytes)
                shell.type(keys)
                shell.read_until(re.escape(shown.encode()), begin)
                shell.type("\x07\x15")
                self.assertIn(b"-ready", self.enter(shell, "version"))
                self.check(shell.bytes[begin:], keys)

    def test_in_the_background(self):
        shell = self.shell()
        for line in (f"addauth digest {NAMED} &", f"addauh digest {NAMED} &", f"repeat 1000 --every 1s addauth digest {NAMED} &"):
            self.check(self.enter(shell, line), line)
        # The news of another's end draws a prompt before this one is answered. Numbers are given again.
        shell.read_until(rb"\[\d+\] repeat")
        job = re.search(rb"\[(\d+)\] repeat", shell.bytes)[1].decode()
        for line in ("jobs", "jobs -o plain", "jobs -o json", f"kill %{job}", "jobs", "history"):
            self.check(self.enter(shell, line), line)
        shell.read_until(rb"\[%d\] killed" % int(job))
        self.check(self.enter(shell, "pwd"), "the news of their ends")
        self.check_history(f"kill %{job}")

    def test_asked_for(self):
        shell = self.shell()
        self.enter(shell, "addauth digest ann", wait=False)
        begin = shell.read_until(rb"Password of ann: ", self.at)
        shell.type(SECRET + "\n")
        self.at = shell.read_until(rb"1-ready> ", begin)
        self.check(shell.bytes[begin:], "what was asked for is not shown")
        self.assertIn(b"ann", self.enter(shell, "whoami"))
        self.check(self.enter(shell, "history"), "history")
        self.check_history("whoami")

    def test_from_files(self):
        shell = self.shell()
        for line in (f"addauth --file {self.credentials}", f"addauth digest @{self.one}", f"addauth --file {self.one}",
                     f"addauth --file {self.file('lone', SECRET)}", f"addauth @{self.one}", f"addauth {SECRET[:3]} @{self.one}"):
            self.check(self.enter(shell, line), line)
        self.check(self.enter(shell, "history"), "history")

    def test_options_and_configuration(self):
        open_file = self.file("open", f"digest {NAMED}\n", 0o644)
        bad_file = self.file("bad", f"{SECRET}\n")
        config = f'auth-file = "{self.credentials}"\n'
        for configuration, words in ((config, ["--show-config"]), (config, ["whoami"]), (config, ["-c", "connect; whoami"]),
                                     ("", ["--auth-file", self.credentials, "--show-config"]),
                                     ("", ["--auth-file", open_file, "whoami"]), ("", ["--auth-file", bad_file, "whoami"]),
                                     (f'password = "{SECRET}"\n', ["--show-config"]),
                                     (f'auth = digest:{NAMED}\n', ["whoami"]), (f'auth-file = "{NAMED}"x y\n', ["whoami"]),
                                     (f"[profile.p]\npassword = {SECRET}\n", ["--show-config", "--profile", "p"])):
            with self.subTest(words=words, configuration=configuration):
                self.configure(configuration)
                done = run_zksh(*words, env=self.environment())
                if 'auth-file = "ann' not in configuration:  # the name of a file is no secret
                    self.check(done.stdout + done.stderr, words)

    def test_one_shot_errors(self):
        for line in (*CREDENTIALS, *ACLS):
            for options in ([], ["-o", "json"], ["-o", "plain"]):
                with self.subTest(line=line, options=options):
                    done = run_zksh(*options, "-c", line, env=self.environment(), errors="replace")
                    self.check(done.stdout + done.stderr, "printed")
        done = run_zksh("-k", input="\n".join((*CREDENTIALS, *ACLS, "history", "redo 0")), env=self.environment())
        self.check(done.stdout + done.stderr, "piped")

    def test_no_core_is_dumped(self):
        def crash(command, text):
            """Crashes the command once it has printed something; whether it dumped core."""
            def unlimited():
                resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

            with subprocess.Popen(command, env=self.environment(), cwd=self.directory, preexec_fn=unlimited,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                process.stdin.write(text)
                process.stdin.flush()
                self.assertTrue(process.stdout.readline())
                process.send_signal(signal.SIGSEGV)
                _, status = os.waitpid(process.pid, 0)
                process.returncode = -os.WTERMSIG(status)
            self.assertEqual(signal.SIGSEGV, os.WTERMSIG(status))
            return os.WCOREDUMP(status)

        try:
            dumps = crash(["cat"], b"a line\n")
        except (OSError, subprocess.SubprocessError):
            self.skipTest("the limit of core dumps is fixed here")
        if not dumps:
            self.skipTest("no program dumps core here")
        before = set(os.listdir(self.directory))
        self.assertFalse(crash([ZKSH, "--auth-file", self.credentials], b"whoami\n"))
        self.assertEqual(before, set(os.listdir(self.directory)))

    def test_programs_do_not_see_it(self):
        shell = self.shell()
        self.enter(shell, f"addauth digest {NAMED}")
        seen = self.enter(shell, f"whoami | {SEEN}")
        self.assertIn(b"zksh", seen)
        self.check(seen, "by a program behind |")
        program = self.file("program", f"#!/bin/sh\nexec </dev/null\n{SEEN}\n", 0o700)
        for line in (f"lock /l -- {program}", f"watch -i -n 1 -x {program} /b"):
            seen = self.enter(shell, line)
            self.assertIn(b"seen", seen)
            self.check(seen, line)
        node = re.search(rb"(/held/\S+) \d+", self.enter(shell, "lock --detach /held"))[1].decode()
        self.check_processes()
        self.check(self.enter(shell, f"unlock {node}"), "unlock")
        self.check(self.enter(shell, "locks /held"), "locks")


if __name__ == "__main__":
    unittest.main()
