"""Plays the walkthroughs of zksh-locks(7) in real terminals and compares the screens.

    A │ [zk: 127.0.0.1:20417(CONNECTED) 0] lock /demo
    A │ acquired /demo  token=4  node=_c_3550a006…-lock-0000000000  waited=0.004s
    B │ ^C
    D │ $ kill -9 4158

A letter is a terminal. A line with a prompt, of zksh or of the shell, is typed there once that prompt is
there; `^C` is a key. All else has to be on that terminal, in this order, and nothing else may be there at the end of a
block. What a run makes up (ports, pids, guids, tokens, sessions, times) may differ from the document, but one
value there is one value here: a pid that is killed is that of the terminal which showed it.
"""
import re
import time

MARGIN = re.compile(r"    ([A-Z]) │ ?(.*)$")
# What the shell says of a program that was killed at its prompt stands behind that prompt.
PROMPT = re.compile(r"(\[zk: [^\]]*\]|\$) (?!Killed$)(.+)$")
# News that come or not, as the connection is back before the program has ended or not, or as the server answers late:
# never compared.
NEWS = re.compile(r"\d\d:\d\d:\d\d (?:connection lost \(|session expired; |reconnected to |new session 0x)|"
                  r"suspended /\S+: no server answers; |resumed /\S+: still held$|"
                  r"waiting for \S+, \S+ \(Ctrl-C ends\)$|"
                  r"/\S+: [^:]*: SIG\w+ to pid ")
KEY = re.compile(r"\^([A-Z])$")
KINDS = [
    ("address", r"127\.0\.0\.1:(\d+)"),
    ("guid", r"(?<![0-9a-f])([0-9a-f]{8})(?=…|-[0-9a-f]{4}-)"),
    ("", r"(?<=[0-9a-f]{8})((?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"),  # the rest of it
    ("session", r"\b(0x[0-9a-f]{9,16})\b"),
    ("pid", r"\bpid[= ](\d+)"),
    ("pid", r"\bkill -\w+ (\d+)"),
    ("pid", r"\b(\d+)(?= (?:zksh|sleep)\b)"),
    ("host", r"\bhost=([^ ]+)"),
    ("host", r"(?<=@)(\S+)"),
    ("user", r"\buser=([^ ]+)"),
    ("user", r"\b(\w+)(?=@)"),
    ("token", r"\btoken=(\d+)"),
    ("", r"\b(\d+m\d\ds|\d+(?:\.\d+)? ?(?:s|ms|us|min))\b"),  # times are free
    ("", r"\bzksh[ /](\d+\.\d+\.\d+)\b"),
    ("", r"(?<=  )(\d+(?:\.\d+)?)(?=  |$)"),  # what is counted in a table, behind its name
]
VALUE = re.compile("|".join(pattern for _, pattern in KINDS))


def values(line):
    """The line as literal parts and values: [text, (kind, value), text, …]; runs of blanks are one."""
    parts, end = [], 0
    for match in VALUE.finditer(line):
        group = match.lastindex
        start, stop = match.span(group)
        parts += [line[end:start], (KINDS[group - 1][0], match[group])]
        end = stop
    parts.append(line[end:])
    return [re.sub(r" +", " ", part) if isinstance(part, str) else part for part in parts]


class Bindings:
    """Which value of the document stands for which of this run; one to one within a kind."""

    def __init__(self):
        self.real = {}
        self.documented = {}

    def agree(self, documented, real):
        """Whether two lines say the same; if so, what their values stand for is remembered."""
        ours, theirs = values(documented), values(real)
        if [p if isinstance(p, str) else p[0] for p in ours] != [
                p if isinstance(p, str) else p[0] for p in theirs]:
            return False
        pairs = [(a, b) for a, b in zip(ours, theirs) if not isinstance(a, str) and a[0]]
        if any(self.real.get(a, b) != b or self.documented.get(b, a) != a for a, b in pairs):
            return False
        self.real.update(pairs)
        self.documented.update((b, a) for a, b in pairs)
        return True

    def translated(self, line):
        """A line of the document with the values of this run."""
        return "".join(part if isinstance(part, str) else self.real.get(part, part)[1]
                       for part in values(line))


def blocks(text):
    """The blocks of a document's part: lists of (number of the line, terminal, text)."""
    found, block = [], []
    for number, line in enumerate(text.split("\n"), 1):
        match = MARGIN.match(line)
        if match:
            block.append((number, match[1], match[2]))
        elif block:
            found.append(block)
            block = []
    return found + ([block] if block else [])


class Player:
    """Plays blocks. `open_terminal` makes the screen (tmux.Tmux) of a letter, with a shell in it."""

    def __init__(self, open_terminal, timeout=60):
        self.open_terminal = open_terminal
        self.timeout = timeout
        self.screens = {}
        self.seen = {}  # letter → rows that were compared
        self.live = {}  # letter → whether a picture is redrawn there
        self.bindings = Bindings()

    def play(self, text):
        for block in blocks(text):
            rows = list(block)
            while rows:
                number, letter, line = rows[0]
                if self.live.get(letter) and not KEY.match(line):
                    picture = [row for row in rows if row[1] == letter]
                    rows = [row for row in rows if row[1] != letter]
                    self.await_picture(letter, picture)
                else:
                    rows.pop(0)
                    self.step(number, letter, line)
            self.nothing_more(block[-1][0])

    def screen(self, letter):
        if letter not in self.screens:
            self.screens[letter] = self.open_terminal(letter)
            self.seen[letter] = 0
        return self.screens[letter]

    def step(self, number, letter, line):
        if NEWS.match(line):
            return
        screen = self.screen(letter)
        typed, key = PROMPT.match(line), KEY.match(line)
        if typed:
            self.until(number, letter, typed[1],
                       lambda: self.bindings.agree(typed[1], self.rows(letter)[-1]))
            self.take(number, letter, typed[1], len(self.rows(letter)) - 1)
            screen.type(self.bindings.translated(typed[2]) + "\n")
            self.seen[letter] += 1
            self.live[letter] = bool(re.match(r"locks\b.* -w\b", typed[2]))
        elif key:
            screen.keys("C-" + key[1].lower())
            if self.live.get(letter):
                self.live[letter] = False
                screen.wait_for(lambda s: PROMPT.match(s.lines()[-1] + " x"))
                self.seen[letter] = len(self.rows(letter)) - 1
            else:
                self.take(number, letter, line)
        else:
            self.take(number, letter, line)

    def rows(self, letter):
        # Bash 5.3 adds the command to the end of a program.
        return [re.sub(r"(?<=Killed) {2,}.*", "", row) for row in self.screens[letter].lines(history=True, joined=True)
                if not NEWS.match(row)]

    def take(self, number, letter, line, upto=None):
        """Waits for the next row to be the line; with `upto`, looks whether there are none before."""
        if upto is not None:
            left = self.rows(letter)[self.seen[letter]:upto]
            if left:
                raise AssertionError(f"line {number}: terminal {letter} says more:\n" + "\n".join(left))
            return

        taken = 0

        def there():
            nonlocal taken
            rows = self.rows(letter)[self.seen[letter]:]
            for taken in (1, 2):  # zksh breaks a long line between words
                if len(rows) >= taken and self.bindings.agree(line, " ".join(rows[:taken])):
                    return True
            return False
        self.until(number, letter, line, there)
        self.seen[letter] += taken

    def await_picture(self, letter, rows):
        wanted = [line for _, _, line in rows]

        def drawn():
            shown = self.screens[letter].lines()
            trial = Bindings()
            trial.real, trial.documented = dict(self.bindings.real), dict(self.bindings.documented)
            if len(shown) != len(wanted) or not all(map(trial.agree, wanted, shown)):
                return False
            self.bindings = trial
            return True
        self.until(rows[0][0], letter, "\n".join(wanted), drawn)

    def nothing_more(self, number):
        for letter in self.screens:
            if self.live.get(letter):
                continue
            left = [row for row in self.rows(letter)[self.seen[letter]:]
                    if row and not re.fullmatch(r"\[zk: [^\]]*\]|\$|%", row)]  # "%": a prompt is being drawn
            if left:
                raise AssertionError(f"line {number}: terminal {letter} says more:\n" + "\n".join(left))

    def until(self, number, letter, wanted, check):
        deadline = time.monotonic() + self.timeout
        while not check():
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"line {number}: terminal {letter} does not show, after row {self.seen[letter]},\n"
                    f"  {wanted}\n--- but\n" + "\n".join(
                        f"--- {name}\n{screen.text(history=True, joined=True)}"
                        for name, screen in self.screens.items()))
            time.sleep(0.02)
