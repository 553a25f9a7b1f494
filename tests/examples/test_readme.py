"""README: the session that a newcomer sees first is what the program prints."""
import os
import pathlib
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from terminal import Terminal  # noqa: E402
from zksh import ZKSH, environment  # noqa: E402

README = os.path.join(HERE, "..", "..", "README.md")
PROMPT = re.compile(r"\[zk: 127\.0\.0\.1:29292\(CONNECTED\) \d+\] ")


def example():
    """The lines of the README's first session with the sandbox, without their indent."""
    with open(README, encoding="utf-8") as file:
        text = file.read()
    begin = text.index("    sandbox: 1 private server at ")
    return [line[4:] for line in text[begin:].split("\n\n")[0].split("\n")]


def plain(shown):
    """What stays on the screen of what a terminal got."""
    lines = []
    for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]", "", shown).split("\n"):
        while "\b" in line:
            line = re.sub("[^\b]?\b", "", line, count=1)  # not r"": there \b is a word's edge
        lines.append(line.rstrip("\r").rsplit("\r", 1)[-1].rstrip())
    return lines


class Session(unittest.TestCase):
    def test_the_example_is_what_is_printed(self):
        wanted = example()
        typed = [PROMPT.sub("", line) for line in wanted if PROMPT.match(line)]
        self.assertGreater(len(typed), 3)
        home = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-test-"))
        env = environment(home, TERM="dumb", NO_COLOR="1")
        with Terminal([ZKSH, "--sandbox"], env, columns=120) as terminal:
            at = 0
            for number, line in enumerate(typed):
                at = terminal.read_until(rb"\(CONNECTED\) %d[^]]*\] " % number, at)
                terminal.type(line + "\n")
            terminal.read_until(rb"\(CONNECTED\) %d[^]]*\] " % len(typed), at)
            terminal.type(b"\x04")
            shown = terminal.finish().decode()
        shown = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:29292", shown)
        shown = re.sub(r"\d\d:\d\d:\d\d (?=changed)", "14:06:22 ", shown)
        # On a busy machine it may have to wait, and says so.
        lines = [line for line in plain(shown) if line and not line.startswith("waiting for ")]
        self.assertEqual(lines[:len([w for w in wanted if w])],
                         [line for line in wanted if line])


if __name__ == "__main__":
    unittest.main()
