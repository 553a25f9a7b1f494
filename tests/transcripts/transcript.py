"""Reads transcript files, and masks what differs from run to run."""
import re

MARKED = re.compile(r"([A-Z]?)([$>&|!])(?:(x)? (.*))?$")
STATUS = re.compile(r"([A-Z]?)\[(\d+)\]$")
NO_NEWLINE = re.compile(r"([A-Z]?)\\ no newline$")
STREAMS = {"|": "stdout", "!": "stderr"}
DIRECTIVES = {"needs", "server", "root", "mask", "timeout", "signal", "freeze", "thaw", "kill", "start"}


class TranscriptError(Exception):
    """The file is not a well-formed transcript, or cannot mean what it says."""


def suits(needs, version):
    """Whether a server of this version, as numbers, is what `@needs` asks for: `>=3.5`, `<3.9`, or both."""
    for word in needs.split():
        match = re.fullmatch(r"(>=|<)(\d+(?:\.\d+)*)", word)
        if not match:
            raise TranscriptError(f"@needs is followed by >=VERSION or <VERSION, not by {word}")
        wanted = tuple(int(number) for number in match[2].split("."))
        if (version >= wanted) != (match[1] == ">="):
            return False
    return True


class Step:
    """One line of a transcript that is no comment."""

    def __init__(self, kind, number, name="", text=b"", stream=None):
        self.kind = kind  # run, input, expect, status, directive
        self.number = number
        self.name = name  # of the session; empty for one that is fed at once
        self.text = text
        self.stream = stream
        self.newline = True
        self.awaited = True  # of an input: the next session's line waits until it is done

    @property
    def line(self):
        return self.text + (b"\n" if self.newline else b"")


def unescape(text):
    """`\\xHH`, `\\\\`, `\\n`, `\\t`, `\\r` and `\\0` to bytes; all else as it is."""
    simple = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}
    return re.sub(rb"\\(?:x([0-9a-f]{2})|([ntr0\\]))",
                  lambda m: bytes([int(m[1], 16)]) if m[1] else simple[m[2]], text.encode())


def escape(data):
    """The inverse of unescape: one printable line."""
    text = data.replace(b"\\", b"\\\\").decode(errors="surrogateescape")
    return "".join(c if c.isprintable() and not 0xdc80 <= ord(c) <= 0xdcff
                   else "".join(f"\\x{b:02x}" for b in c.encode(errors="surrogateescape"))
                   for c in text)


def written(name, mark, line):
    """A line of output as it stands in a transcript."""
    text = line[:-1] if line.endswith(b"\n") else line
    try:
        plain = text.decode()
        plain = plain if plain.isprintable() or plain.replace("\t", "").isprintable() else None
    except UnicodeDecodeError:
        plain = None
    if plain is None:
        result = f"{name}{mark}x {escape(text)}\n"
    else:
        result = f"{name}{mark} {plain}\n" if plain else f"{name}{mark}\n"
    return result if line.endswith(b"\n") else result + f"{name}\\ no newline\n"


def parse(source, complete=True):
    """The steps of a transcript. Raises TranscriptError naming the line. `complete`: it must expect
    something."""
    steps, running = [], set()
    for number, line in enumerate(source.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        try:
            step = parse_line(line, number, steps)
            if step:
                check_order(step, steps, running, complete)
                steps.append(step)
        except TranscriptError as error:
            raise TranscriptError(f"line {number}: {error}") from None
    if not any(step.kind == "run" for step in steps):
        raise TranscriptError("runs no program: a line `$ zksh …` is missing")
    if complete and not any(step.kind in ("expect", "status") for step in steps):
        raise TranscriptError("expects nothing, so it cannot fail: run it with --update")
    return steps


def parse_line(line, number, steps):
    if line.startswith("@"):
        words = line[1:].split(None, 1)
        if not words or words[0] not in DIRECTIVES:
            raise TranscriptError(f"unknown directive; known are {', '.join(sorted(DIRECTIVES))}")
        step = Step("directive", number, text=words[1] if len(words) > 1 else "")
        step.stream = words[0]
        return step
    if match := STATUS.match(line):
        return Step("status", number, match[1], match[2])
    if match := NO_NEWLINE.match(line):
        if not steps or steps[-1].kind not in ("expect", "input") or steps[-1].name != match[1]:
            raise TranscriptError("no line before it that could lack a newline")
        steps[-1].newline = False
        return None
    match = MARKED.match(line)
    if not match:
        raise TranscriptError(f"not a line of a transcript: {line!r}")
    name, mark, escaped, text = match[1], match[2], match[3], match[4] or ""
    data = unescape(text) if escaped else text.encode()
    if mark == "$":
        return Step("run", number, name, data)
    if mark in STREAMS:
        return Step("expect", number, name, data, STREAMS[mark])
    step = Step("input", number, name, data)
    step.awaited = mark == ">"
    return step


def check_order(step, steps, running, complete):
    """Lines belong to a session that runs, and do not race with another session's."""
    if step.kind == "run":
        if step.name in running and step.name:
            raise TranscriptError(f"session {step.name} runs already")
        running.add(step.name)
    elif step.kind != "directive" and step.name not in running:
        raise TranscriptError(f"no session {step.name} runs here" if step.name else
                              "no program runs here: a line `$ zksh …` must come first")
    last = steps[-1] if steps else None
    silent = last and last.kind == "input" and last.name and last.awaited
    if complete and silent and step.kind != "expect" and (
            step.name != last.name or step.kind in ("run", "directive")):
        raise TranscriptError(
            f"session {last.name}'s last line prints nothing, so nobody knows when it is done and "
            f"this line may come too early: let {last.name} print something first (`sync /`), or "
            f"write `{last.name}& …` where it is meant to go on")
    if step.kind == "status" and step.name:
        running.discard(step.name)


class Masker:
    """Replaces what differs from run to run; equal ids stay equal, by number of appearance."""

    DATE = (rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
            rb" \d\d \d\d:\d\d:\d\d [A-Z][A-Z0-9+:-]{1,8} \d{4}")
    EPOCH = b"Thu Jan 01 00:00:00 UTC 1970"

    def __init__(self, literals):
        """`literals`: pairs of text and placeholder, such as the server's address."""
        self.literals = [(a.encode(), b.encode()) for a, b in literals if a]
        self.numbers = {}
        self.rules = []
        self.rule(rb"^(c|m|p)Zxid = 0x([1-9a-f][0-9a-f]*)$",
                  lambda m: m[1] + b"Zxid = 0x<ID" + self.number("zxid", m[2]) + b">")
        self.rule(rb"\b0x([1-9a-f][0-9a-f]{13,15})\b",
                  lambda m: b"0x<SID" + self.number("session", m[1]) + b">")
        self.rule(rb"^(c|m)time = (" + self.DATE + rb")$",
                  lambda m: m[0] if m[2] == self.EPOCH else m[1] + b"time = <DATE>")
        self.rule(rb"^(ZooKeeper CLI version: ).+$", lambda m: m[1] + b"<VERSION>")
        self.lock_rules()

    def lock_rules(self):
        """What a lock is made of: guids, whole or cut short; tokens, times, owners. They are not
        numbered: the order in which two sessions' nodes are listed is no order of theirs."""
        self.rule(rb"(?<![0-9a-f])[0-9a-f]{8}(?:(\xe2\x80\xa6)|(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|"
                  rb"[0-9a-f]{24}(?=__))", lambda m: b"<GUID>" + (m[1] or b""))
        self.rule(rb"\b(token=|ZKSH_LOCK_TOKEN=)(\d+)((?:,\d+)*)",
                  lambda m: m[1] + b"<TOKEN>" + b",<TOKEN>" * m[3].count(b","))
        time = rb"(?:\d+m\d\ds|\d+(?:\.\d+)?(?:us|ms|s))\b"
        self.rule(rb"\b(waited=|held=|for |at most )" + time, lambda m: m[1] + b"<TIME>")
        self.rule(rb"\(" + time + rb"\)", lambda m: b"(<TIME>)")
        self.rule(rb"\bhost=\S+ pid=\d+( user=\S+)?",
                  lambda m: b"host=<HOST> pid=<PID>" + (b" user=<USER>" if m[1] else b""))
        self.rule(rb"\b[\w.-]+@[\w.-]+ \d+(?= )", lambda m: b"<USER>@<HOST> <PID>")
        self.rule(rb"\bpid \d+ \(", lambda m: b"pid <PID> (")
        self.rule(rb" via=zksh/[0-9.]+", lambda m: b" via=zksh/<VERSION>")

    def rule(self, pattern, replacement):
        self.rules.append((re.compile(pattern), replacement))

    def add(self, text):
        """A rule of a transcript's own: `REGEX => TEXT`."""
        pattern, arrow, replacement = text.partition(" => ")
        if not arrow:
            raise TranscriptError(f"@mask wants REGEX => TEXT, not {text!r}")
        self.rule(pattern.encode(), replacement.encode())

    def number(self, kind, value):
        ids = self.numbers.setdefault(kind, {})
        return str(ids.setdefault(value, len(ids) + 1)).encode()

    def __call__(self, line):
        for text, placeholder in self.literals:
            line = line.replace(text, placeholder)
        end = b"\n" if line.endswith(b"\n") else b""
        line = line[:-1] if end else line
        for pattern, replacement in self.rules:
            line = pattern.sub(replacement, line)
        return line + end
