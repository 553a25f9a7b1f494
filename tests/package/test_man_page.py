"""The manual page is well-formed, formats without a warning, and tells of every command and option."""
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
        lint = run("mandoc", "-Tlint", text=self.page)
        self.assertEqual((0, "", ""), (lint.returncode, lint.stdout, lint.stderr))

    def test_no_mark_of_the_frame_is_left(self):
        self.assertNotRegex(self.page, "(?m)^@|@[A-Z]+@$")

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
