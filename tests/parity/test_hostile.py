"""Every command prints a hostile tree as printable text on a terminal, and as exact bytes elsewhere.

Names, values, identities and the owners of locks try to take over the terminal.
"""
import base64
import json
import os
import pathlib
import re
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server_case import ServerTest  # noqa: E402
from terminal import Terminal  # noqa: E402
from zksh import ZKSH, run_zksh  # noqa: E402
from znodes import OPEN_ACL, pack_string  # noqa: E402

EPHEMERAL_SEQUENTIAL = 3

# What the servers take as a name: no control characters and nothing beyond U+D800 but the byte order mark.
NAMES = ["rtl\u202etxt", "\u2066iso\u2069late", "zero\u200bwidth", "mark\ufeff", "a blank", " ", 'quo"te', "apo'strophe",
         "back\\slash\\n", "$'dollar'", "com\u0301bining\u0301\u0301", "wide\u6f22", "#hash", "-dash", "semi;colon",
         "| > & ]", "l" * 3000, "line\u2028separator", "soft\u00a0blank"]
ATTACK = "\x1b]0;pwned\x07\x1b[31m\x1b[6n\x1bc\r\n\t\x08\u202e\u009b6n\x7f"
VALUES = [ATTACK.encode(), b"\x9b31mC1 \xff\xfe\x80 no UTF-8", b"nul\0byte", None, b"", b"two\nlines\n", b"\r\x1b[2Kfaked> ",
          "\u2066\u200b\U000e0041".encode()]


def typed(text):
    """A word of a line, written with printable ASCII alone."""
    data = text if isinstance(text, bytes) else text.encode()
    return "$'" + "".join(chr(b) if b < 128 and chr(b).isalnum() or b == ord("/") else f"\\x{b:02x}" for b in data) + "'"


BAD = typed(ATTACK)
MISSING = typed("/none" + ATTACK)
NOWHERE = typed("/no/where" + ATTACK)  # a file that cannot be written, even by root
LOCK = typed("/lock\u202e here")

# Command → lines. {} is each hostile node in turn. What a help text says is not hostile.
CASES = {
    "4lw": [f"4lw {BAD}", f"4lw {BAD} --any", f"4lw ruok {BAD}", "4lw wchp", "4lw dump", f"4lw -t {BAD} ruok"],
    "addWatch": ["addWatch {}", "set {} x", f"addWatch {MISSING}", f"addWatch -m {BAD} /"],
    "addauth": [f"addauth digest {typed('ann:' + ATTACK)}", f"addauth digest {typed('ann' + ATTACK + ':x')}",
                "whoami", f"addauth --file {MISSING}", f"addauth {BAD} x", "ls /"],
    "apply": ["dump / > ~/tree", "apply -v --to {}/copy ~/tree", "apply --prune --dry-run --to {} ~/tree", f"apply {MISSING}",
              f"apply --to {BAD} ~/tree", f"apply --to {MISSING} ~/tree"],
    "cd": ["cd {}", "pwd", "cd /", "cd -", f"cd {MISSING}", f"cd {BAD}"],
    "check": ["check {}", "check -v 7 {}", f"check {MISSING}", f"check -v {BAD} /"],
    "clear": [f"clear {BAD}"],
    "close": ["close", "ls {}"],
    "conf": [f"conf prompt {BAD}", f"conf pager {BAD}", "conf", f"conf hints {BAD}", f"conf {BAD}"],
    "config": ["config", "config -c", "config -s -w"],
    "connect": [f"connect {BAD}", f"connect {typed('127.0.0.1:1/' + NAMES[0])}", f"connect {typed('host' + ATTACK + ':1')}"],
    "contend": [f"contend -v -n 2 {typed('/contend' + NAMES[0])}", f"contend -n 2 {MISSING}"],
    "count": ["count {}", "count -a / {}", "count -o plain", f"count {MISSING}", f"count --rate {BAD} /"],
    "cp": ["cp {} /copied", f"cp -r {{}} {typed('/copy' + NAMES[0])}", "cp -r {} /copied", "cp -r --dry-run {} /dry", f"cp {MISSING} /x", f"cp {BAD} /x",
           "cp -r {} {}"],
    "create": ["create {}/new x", "create {} x", "create -s {}/new- x", "create --dry-run {}/dry x",
               f"create {MISSING} x", f"create {MISSING} x", f"create /bad x {BAD}",
               f"create /bad x {typed('digest:' + ATTACK)}", f"create /bad x {typed('digest:u' + ATTACK + ':r')}", f"create -t {BAD} /x"],
    "delete": ["delete --dry-run {}/child", "delete {}", "delete {}/child", f"delete {MISSING}", f"delete -v {BAD} /"],
    "deleteall": ["rm --dry-run {}", "rm {}", "deleteall --dry-run {}", "deleteall -y {}", f"deleteall -y {MISSING}"],
    "delquota": ["setquota -n 5 {}", "delquota --dry-run {}", "delquota {}", "delquota {}", f"delquota {MISSING}"],
    "diff": ["diff / {}", f"diff {MISSING} /", f"diff {BAD} /", f"diff / {typed('h' + ATTACK + ':1/x')}"],
    "digest": [f"digest {BAD} @/etc/hostname", f"digest ann {typed(chr(64) + NAMES[0])}"],
    "discard": ["multi", "set {} x", "discard", f"discard {BAD}"],
    "dump": ["dump /", "dump {}", f"dump {MISSING}"],
    "du": ["du /", "du -h -n 3 {}", "du {} /", f"du {MISSING}", f"du -d {BAD} /"],
    "echo": [f"echo {BAD}"],
    "edit": ["edit {}", "edit {}/child", "edit --create {}/new", f"edit {MISSING}"],
    "elect": ["elect {} -- true", f"elect -n {LOCK} {BAD} -- true", f"elect {MISSING} -- true", f"elect -l x {BAD} y"],
    "ephemerals": ["create -e {}/ephemeral x", "ephemerals /", "ephemerals --session me {}", f"ephemerals --session {BAD} /", f"ephemerals {MISSING}"],
    "exec": ["multi", "create -s {}/s- x", f"set {{}} {BAD}", f"exec {BAD}", "exec --dry-run", "exec", "multi",
             f"set {{}} {BAD}", "create {}/child", "check {}", "exec", "exec"],
    "exists": ["exists {}", f"exists {MISSING}", f"exists -q {BAD}"],
    "export": ["export {} ~/one", "export / ~/all", f"export {MISSING} ~/none", f"export / {NOWHERE}"],
    "fg": [f"fg {BAD}", "fg %1"],
    "fill": ["fill -n 2 {}", "fill --dry-run -n 2 {}", f"fill {MISSING}", f"fill -s {BAD} {{}}", f"fill -n {BAD} /"],
    "find": ["find /", "find {} -type persistent", f"find {MISSING}", f"find / -name {BAD}", f"find / -regex {typed('(' + ATTACK)}", f"find / -owner {BAD}",
             f"find / -min-size {BAD}", f"find / -newer {BAD}", f"find / -type {BAD}", f"find / -acl {BAD}", "find / -acl 'digest:*'"],
    "get": ["get {}", "get -s {}", "get -x {}", "get -b {}", "get -w {}", "set {} y", f"get {MISSING}", "get /*",
            f"get {typed('--' + ATTACK)} /", f"get / {BAD}", "get --decode gzip {}", f"get --decode {BAD} /"],
    "getAcl": ["getAcl {}", "getAcl /acl", "getAcl -s /acl", "getAcl -R /", f"getAcl {MISSING}"],
    "getAllChildrenNumber": ["getAllChildrenNumber {}", f"getAllChildrenNumber {MISSING}"],
    "getEphemerals": ["create -e {}/ephemeral x", "getEphemerals", "getEphemerals {}", f"getEphemerals {MISSING}",
                      f"getEphemerals {BAD}"],
    "grep": ["grep . /", "grep -n no {}", "grep -F -l o / {}", "grep -c . {}", f"grep . {MISSING}", f"grep {BAD} /",
             f"grep {typed('(' + ATTACK)} /", f"grep -F {BAD} /"],
    "health": ["health", "health --deep", "health --deep -o plain", f"health {BAD}", f"health {typed('host' + ATTACK + ':1')}", "health 127.0.0.1:1"],
    "help": [f"help {BAD}", "help"],
    "history": ["get {}", "history 100", f"history {BAD}"],
    "import": ["export {}/child ~/one", "import ~/one {}", f"import ~/one {typed('/new' + NAMES[0])}",
               f"import {MISSING} /x", f"import ~/one {BAD}", f"import ~/one {typed('/none' + NAMES[0] + '/x')}"],
    "incr": ["incr {}", "incr --dry-run {}", f"incr {MISSING}", f"incr / {BAD}"],
    "jobs": ["jobs", "jobs -o plain", f"jobs {BAD}"],
    "kill": [f"kill {BAD}", "kill %1"],
    "latency": ["latency -n 2 -w", "latency -n 2 -w --path {}", f"latency -w --path {MISSING}", f"latency {BAD}", f"latency --path {BAD}",
                f"latency -n {BAD}"],
    "listquota": ["setquota -n 5 {}", "listquota {}", "listquota -R /", f"listquota {MISSING}"],
    "lock": [f"lock -n {LOCK}", f"lock -w 100ms {LOCK}", "lock {}", "unlock --all", "lock --dry-run {}",
             f"lock --id {BAD} /mine", "locks /mine", f"lock {MISSING}", f"lock /own -- {BAD}",
             f"lock /own -c {typed('exit 3 #' + ATTACK)}", f"lock -w {BAD} /own",
             f"lock --detach -n {LOCK}", f"lock --detach -w 200ms {LOCK}", f"lock --token-file {NOWHERE} /own"],
    "locks": ["locks {}", f"locks {LOCK}", "locks -r /", f"locks {MISSING}", "lock {}", "locks", "locks --watchers {}",
              "locks -o plain /", "unlock --all"],
    "ls": ["ls {}", "ls -s {}", "ls -s -h {}", "ls -w {}", "create {}/late x", "ls -R /", "ls /", "ls -o plain /", "ls /*",
           f"ls {MISSING}", f"ls {BAD}", f"ls {typed('/none*' + ATTACK)}"],
    "ls2": ["ls2 {}", f"ls2 {MISSING}"],
    "multi": [f"multi {typed('create /none' + ATTACK + ' x')} 'delete /'", f"multi {MISSING}", f"multi {BAD}",
              f"multi {typed('create /new ' + ATTACK)} 'delete /new'", "multi", f"sett {BAD}", f"create {BAD}", "get {}",
              "delete {}", "create {}/s x", "exec", "multi", "discard"],
    "multilock": ["multilock {} /other", "unlock --all", "multilock --dry-run {} /other",
                  f"multilock -n --atomic {LOCK} /other", f"multilock -w 100ms {LOCK} /other", f"multilock {MISSING} /o"],
    "mv": ["mv {} {}/child", f"mv {{}} {typed('/moved' + NAMES[0])}", f"mv --dry-run {typed('/moved' + NAMES[0])} /dry", f"mv {MISSING} /x", f"mv {BAD} /x",
           "create -e {}/ephemeral x", "mv {} /away"],
    "printwatches": [f"printwatches {BAD}", "printwatches"],
    "pwd": [f"cd {typed('/' + NAMES[0])}", "pwd"],
    "quit": [f"quit {BAD}"],
    "quote": ["quote {}", f"quote {BAD}"],
    "reconfig": [f"reconfig -add {BAD}", f"reconfig -file {MISSING}", f"reconfig -remove {BAD}"],
    "redo": ["get {}", "redo 0", f"redo {BAD}"],
    "removewatches": ["addWatch {}", "removewatches {}", "removewatches {}", f"removewatches {MISSING}"],
    "repeat": ["repeat 2 get {}", f"repeat {BAD}", f"repeat 2 {BAD}", f"repeat --every {BAD} ls /", "repeat 1 {}"],
    "revoke": [f"revoke {LOCK}", f"revoke -w 100ms {LOCK}", f"revoke --force {LOCK}", "revoke {}", f"revoke {MISSING}",
               f"revoke --dry-run {LOCK}"],
    "rlock": ["rlock {}", f"rlock -w 100ms {LOCK}", "unlock --all", f"rlock {MISSING}"],
    "rwlock": ["rwlock {} write", "rwlock {} downgrade", "rwlock {} write", f"rwlock / {BAD}", "unlock --all",
               "rwlock {} downgrade"],
    "sandbox": [f"sandbox stop {BAD}", f"sandbox {BAD}"],
    "semaphore": ["semaphore {} 2", "semaphore {} 3", "locks {}", "unlock --all", f"semaphore / {BAD}",
                  f"semaphore -w 100ms {LOCK} 1"],
    "set": [f"set {{}} {BAD}", "set --dry-run {} x", "set -s {} y", f"set {MISSING} x", f"set -v {BAD} / x",
            f"set / {typed('@/none' + ATTACK)}", f"set --hex / {BAD}"],
    "setAcl": [f"setAcl {{}} {typed('digest:ann' + ATTACK + ':hash:cdrwa')}", "getAcl {}",
               f"setAcl / {BAD}", f"setAcl {MISSING} world:anyone:r", "setAcl -R --dry-run / world:anyone:cdrwa",
               "setAcl -R / world:anyone:r"],
    "setquota": ["setquota -n 5 {}", "setquota -N 1 {}", "setquota --dry-run -b 5 {}", "setquota -b 5 {}/child",
                 f"setquota -n 5 {MISSING}", f"setquota -n {BAD} /"],
    "source": [f"source {BAD}"],
    "stat": ["stat {}", "stat -h {}", "stat -w {}", "delete {}/child", f"stat {MISSING}"],
    "status": ["lock {}", "status", f"status {BAD}", "unlock --all"],
    "sync": ["sync {}", f"sync {MISSING}", f"sync {BAD}"],
    "timing": [f"timing {BAD}", "timing on", "get {}"],
    "top": ["create -e {}/ephemeral x", "top -n 1 -i 100ms -o plain", f"top -n 1 -i 100ms -o plain {BAD}", f"top -i {BAD}"],
    "touch": ["touch {}", "touch -c {}/none", "touch -p {}/deep/new", "touch --dry-run {}/dry", f"touch {MISSING}"],
    "tree": ["tree /", "tree -s -c {}", "tree -o plain /", "tree {}", f"tree {MISSING}", f"tree -L {BAD} /"],
    "txns": ["txns --in ~/data -d", "txns --in ~/data -o plain -d -R {}", "txns --in ~/data --by path -n 50", "txns --in ~/data --check",
             "txns --in ~/data --locks", f"txns --in {MISSING}", f"txns --in ~/data --from {BAD}", f"txns --in ~/data --op {BAD}",
             f"txns --in ~/data --by {BAD}", f"txns --in ~/data --session {BAD}"],
    "unlock": ["lock {}", "unlock {}", "lock /one", "lock {}", "unlock", "unlock --all", f"unlock {MISSING}", "unlock {}"],
    "version": [f"version {BAD}"],
    "wait": ["wait --exists {}", "wait --exists -o json {}", f"wait -t 50ms --exists {MISSING}",
             f"wait --value {BAD} -t 50ms {{}}", f"wait --children {BAD} /", f"wait --value {typed('(' + ATTACK)} /"],
    "watch": ["watch -i -n 1 {}", "watch -i -d -n 1 {}", "watch -R -i -d -n 9 /", "watch -i -n 1 -o json {}",
              "watch -i -d -n 1 -o plain {}", f"watch -i -n 1 {MISSING}", f"watch -i -n 1 -x {typed('exit 3 #' + ATTACK)} {{}}",
              f"watch -n {BAD} /", f"watch -t {BAD} /"],
    "wchc": ["get -w {}", "wchc", "wchc -p", "wchc {}", "wchc -o plain", f"wchc {BAD}"],
    "who": ["create -e {}/ephemeral x", "who {}", "get -w {}", "who", "who -o plain", "who -o plain {}", f"who {BAD}", f"who {MISSING}",
            f"who {typed('0x1' + ATTACK)}"],
    "whoami": [f"addauth digest {typed('ann' + ATTACK + ':x')}", "whoami", "whoami -o plain"],
    "wlock": ["wlock {}", f"wlock -n {LOCK}", "unlock --all", f"wlock {MISSING}"],
}
# Words of their own kinds, for what stands in front of every command.
LINES = [f"{BAD}", f"{typed('gett' + ATTACK)}", f"get {BAD}", f"get / | {BAD}", "get /*none*",
         f"get / > {NOWHERE}", "get $'\\q'", f"-o {BAD} get /", f"get -o {BAD} /"]
# Commands that say nothing of what they were given, here.
SILENT = {"close", "config", "fg", "kill", "printwatches", "version"}
EDITOR = """#!/bin/sh
echo more >>"$1"
"$ZKSH" --keep-going -f "$0.lines" >/dev/null 2>&1
"""


def forbidden(data, carriage_return=False):
    """What a terminal would obey, or could not show; None when there is nothing."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"no UTF-8: {data[max(0, error.start - 60):error.end + 20]!r}"
    allowed = "\n\t\r" if carriage_return else "\n\t"
    for at, c in enumerate(text):
        code = ord(c)
        bad = ((code < 32 and c not in allowed) or 0x7F <= code <= 0x9F or c == "\ufeff" or 0x200B <= code <= 0x200F
               or 0x2028 <= code <= 0x202E or 0x2060 <= code <= 0x206F or 0xE0000 <= code <= 0xE007F)
        if bad:
            return f"{c!r} in {text[max(0, at - 100):at + 40]!r}"
    return None


# What the line editor sends: the mark behind a last line without a newline, cursor movements, erasing, bracketed
# paste. No colour is among it.
EDITING = re.compile(rb"\x1b\[7m%\x1b\[m|\x1b\[[0-9;]*[ABCDGJKPX@]|\x1b\[\?(?:25|2004)[hl]")
# On a busy machine a connection may take a second, and so may work: both are told of on a line that is erased again,
# perhaps more than once.
PROGRESS = rb"\d+ [a-z0-9 ]+, \d+/s[^\r\n\x1b]*"
NOTICES = re.compile(rb"(?m)(?:^|(?=waiting for |\r\x1b\[K%b))(?:(?:waiting for [^\r]*)?\r\x1b\[K(?:%b(?=\r))?)+"
                     % (PROGRESS, PROGRESS))


class HostileTree(ServerTest):
    def setUp(self):
        super().setUp()
        self.file("zksh/config", 'prompt = "%n-ready%d%l> "\n')
        self.file("inputrc", "set bell-style none\n")
        os.symlink(self.server.directory + "/data", self.file("data"))
        self.file("editor", EDITOR, 0o700)
        self.file("editor.lines", "".join(f"set {typed('/' + name)} $'new\\nline'\n" for name in NAMES[:8]))

    def plant(self):
        """A new hostile tree, in a new session, which keeps the lock's contenders alive."""
        self.new_root()
        for number, name in enumerate(NAMES):
            self.create(f"/{name}", VALUES[number % len(VALUES)])
            self.create(f"/{name}/child", VALUES[(number + 1) % len(VALUES)])
        entry = (struct.pack(">i", 31) + pack_string("digest") + pack_string(f"eve{ATTACK}:ha{ATTACK}sh"))
        self.create("/acl", b"", acl=struct.pack(">i", 2) + OPEN_ACL[4:] + entry)
        lock = "/lock\u202e here"
        self.create(lock, b"")
        for data in (ATTACK.encode(), b"\xff\x1b]0;x\x07 user=\x9b", f"host={ATTACK} pid={ATTACK} user=x".encode()):
            self.create(f"{lock}/_c_11111111-2222-3333-4444-555555555555-lock-", data, flags=EPHEMERAL_SEQUENTIAL)
        for stray in ("\u202estray", "_c_\u2066-lock-0000000009"):
            self.create(f"{lock}/{stray}", ATTACK.encode())

    def create(self, path, data, flags=0, acl=OPEN_ACL):
        packed = struct.pack(">i", -1) if data is None else pack_string(data)
        self.znodes._call(1, path, pack_string(self.root + path) + packed + acl + struct.pack(">i", flags))

    def environment(self, **more):
        return {"HOME": self.directory, "XDG_CONFIG_HOME": self.directory, "XDG_STATE_HOME": self.directory,
                "TMPDIR": self.directory,
                "INPUTRC": self.file("inputrc"), "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
                "TERM": "xterm", "ZKSH_PAGER": "cat", "PATH": os.environ["PATH"], "EDITOR": self.file("editor"), "ZKSH": ZKSH,
                "ZKSH_SERVER": self.connect, **more}

    def lines_of(self, lines, names=NAMES):
        for line in lines:
            if "{}" in line:
                yield from (re.sub(r"\{\}(/[a-z-]*)?", lambda match: typed(f"/{name}{match[1] or ''}"), line) for name in names)
            else:
                yield line

    def at_once(self, lines, *options, **env):
        """What lines of -c show on a terminal."""
        words = [ZKSH, "--connect-timeout", "5s", "--keep-going", *options, "-c", "\n".join(lines)]
        with Terminal(words, self.environment(**env)) as terminal:
            return NOTICES.sub(b"", terminal.finish())

    def check_shown(self, shown, carriage_return=False):
        self.assertIsNone(forbidden(shown, carriage_return))

    def test_every_command_is_considered(self):
        listed = run_zksh("--examples").stdout.splitlines()
        self.assertEqual(sorted({line.split("\t")[0] for line in listed}), sorted(CASES))

    def test_the_check_sees_an_attack(self):
        self.plant()
        # The shell's child writes to the terminal what zksh gives it as exact bytes.
        with Terminal(["sh", "-c", '"$ZKSH" -c "$1" | cat', "sh", f"get {typed('/' + NAMES[0])}"],
                      self.environment()) as terminal:
            self.assertIn("pwned", forbidden(terminal.finish()))

    def test_one_shot(self):
        for command, lines in {**CASES, "lines": LINES}.items():
            with self.subTest(command=command):
                self.plant()
                shown = self.at_once(self.lines_of(lines))
                self.check_shown(shown)
                if command not in SILENT:
                    self.assertRegex(shown, rb"\\x1b\]0;pwned|\\u202e|\\u009b", "nothing hostile came by")

    def shell(self, **env):
        return Terminal([ZKSH, "--connect-timeout", "5s"], self.environment(**env))

    def test_typed_at_the_prompt(self):
        for command, lines in {**CASES, "lines": LINES}.items():
            with self.subTest(command=command):
                self.plant()
                # Another prompt would leave no way to wait for it.
                lines = [line for line in self.lines_of(lines, NAMES[:3]) if not line.startswith("conf prompt")]
                with self.shell() as shell:
                    at = shell.read_until(rb"0-ready[^\n]*> ")
                    for number, line in enumerate(lines, 1):
                        shell.type(line + "\n")
                        at = shell.read_until(rb"(?<!\d)%d-ready[^\n]*> " % number, at)
                        if line.split()[0] == "quit":
                            break
                    shell.type("\x04\x04")  # the second one leaves locks and jobs
                    shell.finish()
                self.check_shown(EDITING.sub(b"", shell.bytes), carriage_return=True)

    def enter(self, shell, line, end):
        """Types a line; returns what follows the line, to `end` and with it."""
        begin = shell.enter(line)
        until = shell.read_until(end, begin)
        return shell.bytes[begin:until]

    def test_what_only_a_person_sees(self):
        self.plant()
        with self.shell() as shell:
            shell.read_until(rb"0-ready> ")
            self.enter(shell, "sync /", rb"1-ready> ")  # completion asks no server before there is a session
            shell.type("get /rtl\t")
            shell.read_until(rb"\$'/rtl\\u202etxt")
            shell.type("\x15get /\t\t")
            shell.read_until(rb"\\u2066iso\\u2069late")
            shell.type("\x15")
            self.assertIn(rb"\u2066iso", self.enter(shell, f"cd {typed('/' + NAMES[1])}", rb"2-ready[^\n]*> "))
            self.enter(shell, "cd /", rb"3-ready[^\n]*> ")
            asked = self.enter(shell, f"deleteall {typed('/' + NAMES[0])}", rb"\[y/N\] ")
            self.assertIn(rb"$'/rtl\u202etxt': 2 nodes", asked)
            self.enter(shell, "n", rb"4-ready> ")
            self.enter(shell, f"addWatch -m PERSISTENT_RECURSIVE {typed('/' + NAMES[0])}", rb"5-ready> ")
            shell.type("get /half")
            shell.read_until("half".encode(), len(shell.bytes))
            self.create(f"/{NAMES[0]}/{NAMES[1]}", b"")
            shell.read_until(rb"created  [^\n]*/rtl\\u202etxt/\\u2066iso\\u2069late")
            shell.type("\x15")
            self.enter(shell, f"get {typed('/' + NAMES[0])} # \u202e x &", rb"\[1\] [^\n]*\\u202e")
            shell.read_until(rb"\[1\] (?:done|exited)[^\n]*\\u202e")
            shell.read_until(rb"6-ready> ")
            self.enter(shell, f"conf prompt {BAD}", rb"\\x1b\]0;pwned\\x07")
            shell.type("\x04")
            shell.finish()
        # The pasted line itself is the person's own.
        self.check_shown(EDITING.sub(b"", shell.bytes), carriage_return=True)

    def test_errors_as_json(self):
        for command, lines in CASES.items():
            with self.subTest(command=command):
                self.plant()
                lines = [line for line in self.lines_of(lines) if any(name in line for name in (MISSING, NOWHERE, BAD))]
                self.check_shown(self.at_once(lines, "-o", "json"))

    def printed(self, *words, status=0):
        """What a program behind a pipe gets."""
        done = run_zksh(*words, env=self.environment(), text=False)
        self.assertEqual(status, done.returncode, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def as_json(self, *words, **how):
        return json.loads(self.printed("-o", "json", *words, **how))

    def test_values_are_exact(self):
        self.plant()
        for name, value in zip(NAMES, VALUES):
            with self.subTest(value=value):
                self.assertEqual(value or b"", self.printed("-o", "plain", "get", "/" + name))
                data = self.as_json("get", "/" + name)["data"]
                try:
                    self.assertEqual(None if value is None else value.decode(), data)
                except UnicodeDecodeError:
                    self.assertEqual(value, base64.b64decode(data["base64"]))
                event = self.as_json("watch", "-i", "-d", "-n", "1", "/" + name)
                self.assertEqual((data, "/" + name), (event["new"], event["path"]))

    def test_names_are_exact(self):
        self.plant()
        names = sorted([*NAMES, "acl", "lock\u202e here"])
        self.assertEqual("".join(f"{name}\n" for name in names).encode(), self.printed("-o", "plain", "ls", "/"))
        self.assertEqual(names, sorted(self.as_json("ls", "/")["children"]))
        self.assertEqual({"/" + name for name in names},
                         {line for line in self.printed("-o", "plain", "tree", "-L", "1", "/").decode().split("\n")[1:] if line})
        for name in NAMES:
            with self.subTest(name=name):
                path = "/" + name
                self.assertEqual(path, self.as_json("stat", path)["path"])
                self.assertEqual(f"{path}/new\n".encode(), self.printed("-o", "plain", "create", path + "/new", "x"))
                self.assertEqual(f"would delete {path}/new\n".encode(),
                                 self.printed("-o", "plain", "delete", "--dry-run", path + "/new"))
                self.assertEqual(path + "/new", self.as_json("delete", "--dry-run", path + "/new")["path"])
                self.assertEqual(path + "/none", self.as_json("get", path + "/none", status=4)["path"])
                lines = f"create -e {typed(path + '/e')}\ngetEphemerals\ncd {typed(path)}\npwd"
                self.assertEqual(f"{path}/e\n{path}/e\n{path}\n".encode(), self.printed("-o", "plain", "-c", lines))

    def test_identities_and_owners_are_exact(self):
        self.plant()
        # JSON shows an x for the hash, always.
        self.assertIn(f"eve{ATTACK}:x", [entry["id"] for entry in self.as_json("getAcl", "/acl")["acl"]])
        self.assertIn(f"digest:eve{ATTACK}:ha{ATTACK}sh:".encode(), self.printed("-o", "plain", "getAcl", "/acl"))
        self.assertIn(json.dumps(ATTACK)[1:-1].lower(), json.dumps(self.as_json("locks", "/lock\u202e here")).lower())

    def test_names_can_be_pasted_back(self):
        self.plant()
        for name in NAMES:
            with self.subTest(name=name):
                told = self.printed("delete", "--dry-run", f"/{name}/child").decode()
                written = told.removeprefix("would delete ").removesuffix("\n")
                self.assertEqual(f"/{name}/child\n".encode(), self.printed("-o", "plain", "-c", f"cd {written}\npwd"))


if __name__ == "__main__":
    unittest.main()
