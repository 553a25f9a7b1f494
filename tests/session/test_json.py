"""Validates the output of -o json against zksh's own schema (zksh-json(5))."""
import json
import os
import signal
import subprocess
import unittest

import jsonschema

from session_case import ZKSH, SessionTest
from server import needs
from terminal import Terminal
from zksh import environment, run_zksh

# In this order, in one shell. Each command with fields of its own (CommandText::json) stands in it.
SCRIPT = r"""
create /a hello
create /a/b $'\xff'
create -e /a/e x
ls /a
ls -s /a
ls -l /a
ls -R /a
ls2 /a
stat /a
get /a
get -s /a/b
get /nope
set /a 'a world'
set --dry-run /a other
check /a
exists /a /nope
count /a
du /a
tree /a
find -acl world:anyone /a
find /a
find /a -name x -delete
create /a/d x
find /a -name d -delete --dry-run
find /a -name d -delete
grep wor /a
grep -c wor /a
grep -l wor /a
grep . /a/b
ephemerals /
getEphemerals /
getAllChildrenNumber /a
getAcl -s /a
getAcl -R /a
setAcl -s /a world:anyone:cdrwa
setAcl /a world:anyone:cdrwa
setAcl -R /a world:anyone:cdrwa
setAcl --add ip:127.0.0.1:r /a
setAcl -R --remove ip:127.0.0.1 /a
setAcl -v 9 /a world:anyone:cdrwa
setquota -n 1 /a
listquota /a
listquota -R /
dump /a
delquota /a
delquota /a
sync /a
addauth digest user:password
whoami
status
conf
history 2
version
timing
printwatches
pwd
cd /a
cd -
help
help get
help backup
quote 'a b'
echo a b
incr -c /n 5
touch /t
touch /t
fill /f -n 3
cp -r /a /c
mv /c /c2
set /c2 other
diff /a /c2
create /null
diff /null /c2
export /a EXPORTED
import EXPORTED /imported
dump /a > DUMPED
digest ann @DUMPED
apply --to /applied DUMPED
apply --dry-run --to /applied2 DUMPED
multi 'create /m x' 'set /m y' 'check /m 1' 'delete /m'
multi 'create /m x' 'delete /nope'
multi
create /x x
exec
health
health --deep
latency -n 2
top -n 1 -i 100ms
4lw ruok
4lw mntr
who
who /a
get -w /a
wchc
config
sandbox
lock /l
locks
locks /l
unlock /l
lock /free -- true
lock --hold-for 0s /l
rlock --hold-for 0s /l2
wlock --hold-for 0s /l2
rwlock --hold-for 0s /l2 read
semaphore --hold-for 0s /s 2
multilock --hold-for 0s /q1 /q2
elect /l -- true
contend -n 2 /ct
wait --exists /a
wait --value world /a
wait --gone -t 0s /a
addWatch /a
get -w /a
set /a again
removewatches /a
deleteall -y /c2
delete /a
redo 1000
jobs
help nope
no-such-command
get -x
"""


class JsonTest(SessionTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.schema = json.loads(run_zksh("--json-schema").stdout)
        jsonschema.Draft202012Validator.check_schema(cls.schema)

    def run_command(self, *words, server=None, **how):
        return run_zksh("-s", server or self.connect, "-o", "json", *words, timeout=120, cwd=self.directory,
                        env=environment(self.directory, EDITOR="false", VISUAL=""), **how)

    def check(self, line, *names):
        shape = {**self.schema, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
        try:
            jsonschema.Draft202012Validator(shape).validate(json.loads(line))  # the schema itself was checked before
        except (ValueError, jsonschema.ValidationError) as error:
            best = jsonschema.exceptions.best_match(error.context) if getattr(error, "context", None) else error
            self.fail(f"{names}: {line}\n{best}")


class Schema(JsonTest):
    """Every line is an object that its command's declaration allows."""

    @needs(3, 5)  # config
    def test_what_each_command_prints_is_what_it_declares(self):
        answered = set()
        # The commands one by one, in one session: which line is whose is known by a mark behind each.
        lines = [line for line in SCRIPT.split("\n") if line]
        opened, sent = lines.index("multi"), lines.index("exec")
        marked = "".join(f"{line}\n" + ("" if opened <= i < sent else f"quote 'end of {i}'\n")
                         for i, line in enumerate(lines))
        run = self.run_command("-k", "-f", "-", input=marked)
        at = 0
        for line in run.stdout.splitlines():
            at = sent if at == opened else at
            if json.loads(line).get("quoted") == f"\"end of {at}\"":
                at += 1
                continue
            name = lines[at].split()[0]
            self.check(line, name, *(["Written"] if "--dry-run" in lines[at] else []))
            answered.add(name)
        self.assertEqual(at, len(lines), run.stdout[-500:] + run.stderr[-500:])
        for line in run.stderr.splitlines():
            self.check(line, "Error", "Note", "Event")
        declared = {name for name in self.schema["$defs"] if not name[0].isupper()}
        # watch, elect, sandbox and txns have tests of their own here, jobs one at the prompt (screen.jobs); reconfig needs
        # an ensemble that may be changed.
        self.assertEqual(declared - answered, {"watch", "elect", "jobs", "reconfig", "sandbox", "txns"})

    def test_the_past(self):
        self.run_command("-c", "create /p x; create -e /e y; setAcl /p world:anyone:ra; multi 'create /m a' 'set /m b'; lock /l; unlock --all; get /none")
        self.run_command("create", "/none/x", "y")
        data = self.server.directory + "/data"
        for words in (["-d", "--errors"], ["--by", "session"], ["--by", "session", "-n", "1"], ["--by", "path:1", "-n", "1"],
                      ["--locks"], ["--check"]):
            lines = self.run_command("-o", "json", "txns", "--in", data, *words).stdout.splitlines()
            self.assertTrue(lines, words)
            for line in lines:
                self.check(line, "txns")

    def test_changes_that_are_watched(self):
        self.znodes.create(f"{self.root}/w")
        watch = self.start("-o", "json", "watch", "--initial", "-d", "/w")
        self.check(watch.stdout.readline(), "watch")
        self.znodes.set(f"{self.root}/w", b"1")
        self.check(watch.stdout.readline(), "watch")
        self.znodes.create(f"{self.root}/w/below")
        self.check(watch.stdout.readline(), "watch")

    def test_the_leader(self):
        self.znodes.create(f"{self.root}/leader")
        listener = self.start("-o", "json", "elect", "-l", "/leader")
        self.check(listener.stdout.readline(), "elect")
        self.start("elect", "/leader", "me")
        self.check(listener.stdout.readline(), "elect")

    def test_who_leads_or_holds_a_lock_learns_the_token(self):
        for words in (("elect", "/e", "--hold"), ("lock", "/h", "--hold"), ("-c", "lock /s; locks -o plain /s; unlock")):
            with self.subTest(words):
                run = self.run_command(*words)
                line = run.stdout.splitlines()[0]
                self.check(line, words[0] if words[0] != "-c" else "lock")
                self.assertRegex(json.loads(line)["token"], "^0x[0-9a-f]+$")

    def test_a_detached_holder(self):
        for words, token in ((("lock", "--detach", "/d1"), "token"), (("multilock", "--detach", "/d2", "/d3"), "tokens")):
            with self.subTest(words):
                run = self.run_command(*words)
                self.check(run.stdout, "lock")
                held = json.loads(run.stdout)
                self.addCleanup(os.kill, held["pid"], signal.SIGKILL)
                made = self.run_command("stat", held["node"])
                self.assertEqual(list(held), ["node", token, "pid"])
                self.assertIn(json.loads(made.stdout)["stat"]["czxid"], held[token])
                self.check_messages(run, "acquired ")

    def test_a_detached_holder_of_a_command_with_its_own_format(self):
        run = run_zksh("-s", self.connect, "lock", "/d", "--detach", "-o", "json")
        self.check(run.stdout, "lock")
        held = json.loads(run.stdout)
        self.addCleanup(os.kill, held["pid"], signal.SIGKILL)
        self.assertTrue(held["node"].startswith("/d/_c_"), held)
        self.check_messages(run, "acquired ")
        program = run_zksh("-s", self.connect, "lock", "/e", "-o", "json", "--", "true")
        self.check_messages(program, "released ")
        runs = []

        def is_connected():  # in two seconds, which a busy machine may exceed
            runs.append(self.run_command("-c", "addauth digest ann:hidden; lock --detach -n /d"))
            return runs[-1].returncode != 3
        self.wait_until(is_connected)
        run = runs[-1]
        self.assertEqual((run.returncode, run.stdout), (75, ""))
        self.check_messages(run, "/d is busy")
        self.assertNotIn("hidden", run.stderr)

    def test_credentials(self):
        for words in (("addauth", "nosuch", "ann:hidden"), ("-c", "addauth digest ann:hidden")):
            with self.subTest(words):
                run = self.run_command(*words)
                self.check_messages(run, "other users can see a password")
                self.assertNotIn("hidden", run.stderr)
        self.assertEqual(json.loads(self.run_command("addauth", "nosuch", "x").stderr.splitlines()[-1]),
                         {"error": "the server does not know the scheme, or refused the credential",
                          "code": "NoAuth", "path": None, "command": "addauth", "status": 7})

    def test_bytes_that_are_no_text(self):
        """An error is a string whatever it names; other fields are as the schema says."""
        word = b"/\xff\xfe"
        for words in ((b"get", word), (word[1:],), (b"ls", b"--" + word), (b"lock", b"-n", b"/l", b"--", word)):
            with self.subTest(words):
                run = subprocess.run([ZKSH, "-s", self.connect, "-o", "json", *words], capture_output=True, timeout=60,
                                     check=False, env=environment(self.directory), stdin=subprocess.DEVNULL)
                self.check(run.stderr.splitlines()[-1], "Error")
                told = json.loads(run.stderr.splitlines()[-1])
                self.assertIn("\\xff\\xfe", told["error"])
                self.assertIsInstance(told["path"] or "", str)
        run = subprocess.run([ZKSH, "-s", self.connect, "-o", "json", "echo", word], capture_output=True, timeout=60,
                             check=True, env=environment(self.directory))
        self.check(run.stdout, "echo")
        self.assertEqual(json.loads(run.stdout), {"text": {"base64": "L//+"}})
        self.run_command("create", "/text", "x")
        made = self.run_command("export", "/text", os.path.join(self.directory, "\udcff"))
        self.check(made.stdout, "export")

    def check_messages(self, run, expected):
        """On standard error, which must be objects, one of which says this."""
        for line in run.stderr.splitlines():
            self.check(line, "Error", "Note")
        said = [json.loads(line) for line in run.stderr.splitlines()]
        self.assertTrue([one for one in said if expected in (one.get("note") or one.get("error"))], run.stderr)

    def test_the_schema_without_a_definition_accepts_no_other_line(self):
        validator = jsonschema.Draft202012Validator(self.schema)
        validator.validate(json.loads(self.run_command("stat", "/").stdout))
        self.assertFalse(validator.is_valid({"something": "else"}))

    def test_the_servers_of_a_sandbox(self):
        def state_after(line):
            run = run_zksh("--sandbox", "-o", "json", "-c", line, env=environment(self.directory))
            self.assertEqual(run.returncode, 0, run.stderr)
            (server,) = run.stdout.splitlines()
            self.check(server, "sandbox")
            return json.loads(server)["state"]
        self.wait_until(lambda: state_after("sandbox") == "serving")  # "starting": it did not answer soon
        self.assertEqual(state_after("sandbox freeze 1"), "frozen")

    def test_the_tally_of_pipe(self):
        run = self.run_command("--pipe", input="create /a\nget /nope\n")
        for line in run.stderr.splitlines():
            self.check(line, "Error", "Note", "Tally")
        self.check(run.stderr.splitlines()[-1], "Tally")

    def test_a_command_that_chooses_its_format(self):
        run = run_zksh("-s", self.connect, "-c", "create -o json /x; ls -o json /; ls /; get -o json /nope",
                       env=environment(self.directory))
        created, listed, name = run.stdout.splitlines()
        self.check(created, "create")
        self.check(listed, "ls")
        self.assertEqual(name, "x")
        self.check(run.stderr.splitlines()[0], "Error")

    def test_a_question(self):
        with Terminal([ZKSH, "-s", self.connect, "-o", "json", "-c", "create /q; create /q/r; deleteall /q"],
                      environment(self.directory)) as terminal:
            terminal.read_until(rb'"question".*\n')
            terminal.type("n\n")
            terminal.finish()
            self.assertEqual(terminal.process.returncode, 1)
        # The terminal shows the answer, too, and whether zksh had to wait.
        shown = terminal.bytes.decode().replace("\x1b[K", "")
        *created, question, refusal, stop = [line for line in shown.splitlines() if line.startswith("{")]
        for line in created:
            self.check(line, "create")
        self.check(question, "Question")
        asked = json.loads(question)
        jsonschema.Draft202012Validator(self.schema).validate(asked)
        self.assertEqual((asked["question"], asked["command"]), ("/q: 2 nodes. Delete them? [y/N] ", "deleteall"))
        self.check(refusal, "Error")
        self.assertEqual((json.loads(refusal)["error"], json.loads(refusal)["path"]), ("nothing was deleted", "/q"))
        self.check(stop, "Note")


# What an error of zksh's own is called; the others have ZooKeeper's names.
OWN_CODES = {"LockBusy", "LockLost", "CannotRun", "ProgramNotFound", "Interrupted", "Failed"}
ZOOKEEPERS_CODES = {"SystemError", "ConnectionLoss", "OperationTimeout", "BadArguments", "APIError", "NoNode", "NoAuth",
                    "BadVersion", "NoChildrenForEphemerals", "NodeExists", "NotEmpty", "SessionExpired", "InvalidACL",
                    "AuthFailed", "NotReadOnly", "NoWatcher", "ReconfigDisabled", "QuotaExceeded", "Unimplemented",
                    "NewConfigNoQuorum", "ReconfigInProgress"}
# Words for each command, most of them wrong for most commands.
WORDS = ("", "--nope", "/nope", "/nope/below x", "nope", "/a//b", "-o xml", "-o json /nope", "/parent", "/locked", "/text -v 7",
         "/one /two /three /four /five /six", "'' ''", "/text --timeout soon", "-- -", r"$'/\xff' $'\xfe'")
# What would wait, or ask for more than a test has time for.
WITH = {"watch": "-t 0s", "wait": "--exists -t 0s", "lock": "-n --hold-for 0s", "rlock": "-n --hold-for 0s",
        "wlock": "-n --hold-for 0s", "rwlock": "-n --hold-for 0s", "semaphore": "-n --hold-for 0s",
        "multilock": "-n --hold-for 0s", "elect": "-n --hold-for 0s", "contend": "-n 2", "fill": "-n 2", "repeat": "2",
        "latency": "-n 1", "revoke": "-w 0s", "top": "-n 1 -i 100ms"}
# They end the session or the script, or open another.
LEFT_OUT = {"close", "connect", "quit"}
# addauth's words are no nodes; setAcl refuses a malformed ACL before it looks at the node.
NO_PATH_YET = {"addauth", "setAcl"}


class Failures(JsonTest):
    """Whatever a command is given, each line of its answer is an object of the schema, and each error has a code, a
    status, its place and, where one node was given, that node."""

    def commands(self):
        return sorted({line.split("\t")[0] for line in run_zksh("--examples").stdout.splitlines()})

    def check_errors(self, stderr, **places):
        errors = []
        for line in stderr.splitlines():
            self.check(line, "Error", "Note", "Event")
            told = json.loads(line)
            if "error" in told:
                self.assertIn(told["code"], OWN_CODES | ZOOKEEPERS_CODES, line)
                self.assertGreater(told["status"], 0, line)
                for name, value in places.items():
                    self.assertEqual(told[name], value, line)
                errors.append(told)
        return errors

    def check_output(self, stdout):
        names = [name for name in self.schema["$defs"] if not name[0].isupper()]
        for line in stdout.splitlines():
            self.check(line, *names, "Written")

    @needs(3, 5)  # the codes
    def test_each_command_with_words_that_do_not_fit(self):
        self.run_command("-c", "create /parent; create /parent/child; create /text hello; create /locked; "
                         "setAcl /locked world:anyone:a")
        for name in self.commands():
            if name in LEFT_OUT:
                continue
            with self.subTest(command=name):
                lines = [f"{name} {WITH.get(name, '')} {words}" for words in WORDS]
                ran = self.run_command("-k", "-f", "-", input="\n".join(lines) + "\n")
                self.check_output(ran.stdout)
                errors = self.check_errors(ran.stderr, source="stdin")
                self.assertTrue(errors, ran.stdout)
                for error in errors:
                    line = lines[error["line"] - 1]
                    nodes = [word for word in line.split()[1:] if word.startswith("/")]
                    if name not in NO_PATH_YET and len(nodes) == 1 and error["code"] in ("NoNode", "NoAuth", "NotEmpty", "BadVersion"):
                        self.assertEqual(error["path"], nodes[0], error)

    def test_the_status_of_a_process_is_that_of_its_error(self):
        for name in self.commands():
            for words in (["--nope"], ["/nope"], ["/a//b"]):
                with self.subTest(command=name, words=words):
                    ran = self.run_command(name, *WITH.get(name, "").split(), *words)
                    self.check_output(ran.stdout)
                    errors = self.check_errors(ran.stderr, command=name)
                    if errors or ran.returncode not in (0, 1, 124):  # false, or watch has watched long enough
                        self.assertEqual([error["status"] for error in errors], [ran.returncode], ran.stderr)

    def test_options_of_the_process(self):
        for words in (["--nope"], ["-c"], ["-o"], ["--timeout", "-1", "ls", "/"], ["--sandbox=2"]):
            with self.subTest(words=words):
                ran = self.run_command(*words)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                (error,) = self.check_errors(ran.stderr, code="BadArguments", command="", path=None, status=2)
                self.assertTrue(error["error"])

    def test_a_wait_whose_time_is_up(self):
        ran = self.run_command("wait", "--exists", "--timeout", "0s", "/never")
        self.assertEqual((ran.returncode, ran.stdout), (124, ""))
        (error,) = self.check_errors(ran.stderr, code="OperationTimeout", command="wait", path="/never", status=124)
        self.assertRegex(error["error"], "^/never: (it does not exist|its state is unknown, .*)$")

    def test_no_server(self):
        for name in self.commands():
            with self.subTest(command=name):
                ran = self.run_command("--connect-timeout", "0.1", name, *WITH.get(name, "").split(), "/parent",
                                       server="127.0.0.1:1")
                self.check_output(ran.stdout)
                for error in self.check_errors(ran.stderr):
                    # Those that are about servers; and the word of grep is a pattern.
                    if error["code"] == "ConnectionLoss" and name not in ("connect", "health", "latency", "4lw", "grep", "top"):
                        self.assertEqual(error["path"], "/parent", error)

    def test_a_read_only_shell(self):
        ran = self.run_command("--read-only", "-k", "-f", "-", input="create /a\ndelete /a\nset /a x\nsetAcl /a x\n"
                               "lock /a\ncreate --dry-run /a\nmulti 'delete /a'\nexec\n")
        self.check_output(ran.stdout)
        codes = [error["code"] for error in self.check_errors(ran.stderr, source="stdin")]
        self.assertEqual(codes, ["NotReadOnly"] * 6 + ["BadArguments"])  # exec: no transaction was begun


if __name__ == "__main__":
    unittest.main()
