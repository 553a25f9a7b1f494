"""The tree keeps its shape: what stands at the top, how files begin, what a command has."""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = {".ci", ".clang-format", ".clang-tidy", ".gitignore", "CMakeLists.txt", "LICENSE", "README.md",
       "commands", "completions", "man", "src", "tests"}
CODE = {".cpp", ".h", ".c", ".py", ".sh"}
# A file's first words: a sentence, which may go on in the next line of the comment.
COMMENT = re.compile(r'(?:(?://|#) [^\n]*\n?)*?(?://|#) [^\n]*\S[.:)?](?=\s|$)|"""[^\n]*[.:)?](?:"""|\n|$)')
# The four parts of a command, in their order.
PARTS = [re.compile(r"^struct Args \{|^using Args = ", re.M), re.compile(r"^void declare\(Options& ", re.M),
         re.compile(r"^(int|Sent) run\(Context& cx", re.M), re.compile(r"^extern const Command (\w+)_command =", re.M)]


def tracked(root):
    """Files that git knows, or would know after `git add`."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=root, capture_output=True, check=True).stdout.decode()
    return [name for name in listing.split("\0") if name and (root / name).is_file()]


def faults_of_file(root, name):
    path = root / name
    lines = path.read_text(encoding="utf-8").splitlines()
    first = 0
    while first < len(lines) and lines[first].startswith(("#!", "# shellcheck")):
        first += 1
    if len(lines) <= first:
        yield f"{name}: is empty"
        return
    if not COMMENT.match("\n".join(lines[first:first + 3])):
        yield f"{name}:{first + 1}: does not begin with one sentence that says what the file is for"


def faults_of_command(root, name):
    text = (root / name).read_text(encoding="utf-8")
    found = [part.search(text) for part in PARTS]
    if None in found:
        yield f"{name}: lacks {PARTS[found.index(None)].pattern!r}; commands/README.md shows the parts"
        return
    positions = [match.start() for match in found]
    if positions != sorted(positions):
        yield f"{name}: its parts stand in another order than Args, declare, run, the command"
    stem = pathlib.PurePath(name).stem
    identifier = stem if stem.isidentifier() else f"_{stem}"
    if found[3][1] != identifier:
        yield f"{name}: must define {identifier}_command"


def faults(root, names):
    for name in names:
        top = name.split("/")[0]
        if top not in TOP:
            yield f"{name}: {top} does not belong at the top of the project"
        if pathlib.PurePath(name).suffix in CODE or name in ("CMakeLists.txt", "tests/CMakeLists.txt"):
            yield from faults_of_file(root, name)
        if name.startswith("commands/") and name.endswith(".cpp"):
            yield from faults_of_command(root, name)


class Layout(unittest.TestCase):
    def test_the_tree_keeps_its_shape(self):
        names = tracked(ROOT)
        self.assertIn("CMakeLists.txt", names)
        self.assertEqual([], list(faults(ROOT, names)))


class PlantedFaults(unittest.TestCase):
    GOOD = ("// get: print the value of a node.\nstruct Args {\n};\nvoid declare(Options& o, Args& a) {}\n"
            "int run(Context& cx, const Args& a) {}\nextern const Command get_command = make(declare, run);\n")

    def found(self, name, text):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return list(faults(pathlib.Path(directory), [name]))

    def test_a_good_file_passes(self):
        self.assertEqual([], self.found("commands/get.cpp", self.GOOD))
        self.assertEqual([], self.found("src/a.h", "// A: a sentence that is too long for one\n// line.\n"))
        self.assertEqual([], self.found("tests/run.sh", "#!/bin/bash\n# Runs every test.\n"))
        self.assertEqual([], self.found("tests/a.py", '"""Does a thing.\n\nMore of it.\n"""\n'))

    def test_faults_are_found(self):
        for name, text in (("notes.txt", "x"), ("src/a.cpp", "int a;\n"), ("src/a.h", "// no sentence\n"),
                           ("src/a.h", "// no sentence\n\n// One.\n"),
                           ("src/a.cpp", ""),
                           ("commands/set.cpp", self.GOOD),
                           ("commands/get.cpp", self.GOOD.replace("void declare", "void describe")),
                           ("commands/get.cpp", "\n".join(["// A."] + self.GOOD.splitlines()[:0:-1]))):
            self.assertEqual(1, len(self.found(name, text)), (name, text, self.found(name, text)))


if __name__ == "__main__":
    unittest.main()
