"""All C++ files are formatted according to .clang-format, by Debian 12's clang-format: others differ in details."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def complaints(files):
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not program:
        raise unittest.SkipTest("clang-format is not installed")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if not re.search(r"version 14\b", version):
        raise unittest.SkipTest(f"not clang-format 14: {version.strip()}")
    result = subprocess.run([program, "--dry-run", "-Werror", f"--style=file:{ROOT}/.clang-format", *files],
                            capture_output=True, text=True, check=False)
    return result.stderr if result.returncode else ""


class Format(unittest.TestCase):
    def test_files_are_formatted(self):
        files = [path for directory in ("src", "commands", "tests") for pattern in ("*.cpp", "*.h", "*.c")
                 for path in sorted((ROOT / directory).rglob(pattern))]
        self.assertTrue(files)
        self.maxDiff = None
        self.assertEqual("", complaints(files), "run: clang-format -i on these files")

    def test_a_planted_fault_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "a.cpp")
            path.write_text("int  main( ){}\n", encoding="utf-8")
            self.assertIn("a.cpp:1", complaints([path]))


if __name__ == "__main__":
    unittest.main()
