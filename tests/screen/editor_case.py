"""Shared by the tests of the line editor: its driver, and expectations about the screen."""
import os
import tempfile
import unicodedata
import unittest

from tmux import Tmux

DRIVER = os.environ.get("EDITOR_DRIVER", "build/tests/editor_driver")


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(text, width):
    """The rows that a terminal of this width shows for one long line."""
    rows = [""]
    for c in text:
        if columns(rows[-1]) + columns(c) > width:
            rows.append("")
        rows[-1] += c
    return [row.rstrip() for row in rows]


class EditorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.access(DRIVER, os.X_OK):  # its order pipe would never be read
            raise AssertionError(f"{DRIVER}: the program that the tests drive is not built")

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-editor-"))
        self.fifo = os.path.join(self.directory, "orders")
        self.log = os.path.join(self.directory, "log")
        os.mkfifo(self.fifo)
        open(self.log, "w").close()

    def start(self, width=80, height=24, env=None, inputrc="", command=None, **how):
        rc = os.path.join(self.directory, "inputrc")
        with open(rc, "w", encoding="utf-8") as file:
            file.write(inputrc)
        driver = [os.path.abspath(DRIVER), self.fifo, self.log]
        environment = {"INPUTRC": rc, "LC_ALL": "C.UTF-8", **(env or {})}
        self.screen = Tmux(command or driver, width, height, env=environment, **how)
        self.addCleanup(self.screen.close)
        if command is None:
            self.screen.wait_for("zk 0>")
        return self.screen

    def order(self, text):
        with open(self.fifo, "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def accepted(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    def wait_accepted(self, *lines):
        self.screen.wait_for(lambda _: self.accepted() == list(lines))

    def wait_screen(self, lines, cursor=None):
        """Waits for exactly these rows; and for the cursor, given as column and row."""
        try:
            self.screen.wait_for(lambda s: s.lines() == lines and cursor in (None, s.cursor()))
        except AssertionError as error:
            raise AssertionError(f"{error}\n--- expected, cursor {cursor}:\n" + "\n".join(lines))

    def wait_line(self, text, width, before, above=(), prompt="zk 0> "):
        """Waits for the edited line with the cursor after `before`, below the rows `above`."""
        rows = wrapped(prompt + text, width)
        cursor = wrapped(prompt + before, width)
        column = columns((prompt + before)) if len(cursor) == 1 else columns(cursor[-1])
        # rstrip has taken the blanks before the cursor, if there are any
        column += len(before) - len(before.rstrip()) if len(cursor) > 1 else 0
        row = len(cursor) - 1
        if column == width:
            column, row = 0, row + 1
        self.wait_screen([*above, *rows], (column, len(above) + row))
