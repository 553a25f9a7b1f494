"""The manual pages are well-formed, format without a warning, and zksh(1) has every command and option."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZKSH = os.path.abspath(os.environ.get("ZKSH", "build/zksh"))


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)


class ManPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = run(ZKSH, "--man", ROOT / "man" / "zksh.1.in").stdout
        plain = run("mandoc", "-Tutf8", text=cls.page).stdout
        cls.plain = re.sub(".\b", "", plain)

    def test_nothing_to_complain_about(self):
        frames = sorted((ROOT / "man").glob("*.in"))
        self.assertEqual(6, len(frames))
        for frame in frames:
            with self.subTest(frame=frame.name):
                page = run(ZKSH, "--man", frame).stdout
                lint = run("mandoc", "-Tlint", text=page)
                self.assertEqual((0, "", ""), (lint.returncode, lint.stdout, lint.stderr))
                self.assertNotRegex(page, "(?m)^@[A-Z]+@")
                shown = re.sub(".\b", "", run("mandoc", "-Tascii", text=page).stdout)
                self.assertEqual([], re.findall(r".*(?:\\[-e]|[^\n]\.[BIR]{1,2} ).*", shown), "markup is shown")

    def test_the_pages_name_each_other(self):
        for frame in (ROOT / "man").glob("*.in"):
            name, section, _ = frame.name.split(".")
            text = run("mandoc", "-Tascii", text=run(ZKSH, "--man", ROOT / "man" / (
                "zksh-locks.7.in" if name == "zksh" else "zksh.1.in")).stdout).stdout
            self.assertIn(f"{name}({section})", re.sub(".\b", "", text))

    def test_options_that_commands_share_are_described_once(self):
        self.assertEqual(1, len(re.findall(r"(?m)^ +--no-requeue$", self.plain)), "an option of every lock")
        self.assertRegex(self.plain, r"Options of elect, lock, multilock, rlock, rwlock, semaphore, wlock:")

    def test_every_command_with_its_examples(self):
        for entry in run(ZKSH, "--examples").stdout.splitlines():
            name, line = entry.split("\t", 1)
            self.assertRegex(self.plain, rf"(?m)^ +{re.escape(name)}( |$)")
            self.assertIn(re.sub(r"\s+", " ", line), re.sub(r"\s+", " ", self.plain))

    def test_every_option_of_zksh(self):
        for option in re.findall(r"(?m)^  (-[^ ]*)", run(ZKSH, "--help").stdout):
            self.assertIn(option.replace(",", ", "), self.plain)

    def test_a_missing_frame(self):
        done = run(ZKSH, "--man", "/nonexistent/frame")
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("/nonexistent/frame: No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
