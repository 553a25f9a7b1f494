"""Checks the layout of the sources: the top directory, how files begin, the parts of a command."""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = {".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".gitattributes", ".gitignore", "CMakeLists.txt", "LICENSE", "README.md",
       "commands", "completions", "man", "src", "tests"}
CODE = {".cpp", ".h", ".c", ".py", ".sh"}
# A file's first words: a sentence, which may go on in the next line of the comment.
COMMENT = re.compile(r'(?:(?://|#) [^\n]*\n?)*?(?://|#) [^\n]*\S[.:)?](?=\s|$)|"""[^\n]*[.:)?](?:"""|\n|$)')
# What may be compiled in one text with others (ZKSH_UNITY): the files of a directory.
ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
NAME = re.compile(r"^(?:\[\[\w+\]\] )?(?:\w[\w:<>,*&\[\] ]*[ *&>])?(\w+)\(|^(?:struct|class|enum class|enum|using) (\w+)|"
                  r"^(?:inline |static |const |constexpr |thread_local |std::|[A-Z])[\w:<>,*& ]*?[ *&](\w+)(?: =|\{|\[|;)", re.M)
# The four parts of a command, in their order; without arguments it has only the last two.
PARTS = [re.compile(r"^struct Args \{|^using Args = ", re.M), re.compile(r"^void declare\(Options& ", re.M),
         re.compile(r"^(int|Sent) run\(Context& cx", re.M), re.compile(r"^extern const Command (\w+)_command =", re.M)]
WITHOUT_ARGUMENTS = re.compile(r"^int run\(Context& \w+\) \{", re.M)


def tracked(root):
    """Files that git knows, or would know after `git add`."""
    if not (root / ".git").exists():
        raise unittest.SkipTest("not a clone: git does not know its files")
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
    parts = PARTS[2:] if WITHOUT_ARGUMENTS.search(text) else PARTS
    found = [part.search(text) for part in parts]
    if None in found:
        yield f"{name}: lacks {parts[found.index(None)].pattern!r}; commands/README.md shows the parts"
        return
    positions = [match.start() for match in found]
    if positions != sorted(positions):
        yield f"{name}: its parts stand in another order than Args, declare, run, the command"
    stem = pathlib.PurePath(name).stem
    identifier = stem if stem.isidentifier() else f"_{stem}"
    if found[-1][1] != identifier:
        yield f"{name}: must define {identifier}_command"
    elif not re.search(rf"^namespace zksh::command_{stem} \{{$", text, re.M):
        yield f"{name}: must stand in namespace zksh::command_{stem}"


def own_names(text):
    """What a file declares for itself alone."""
    for part in ANONYMOUS.findall(text):
        yield from (name for found in NAME.findall(part) for name in found if name and name != "namespace")


def shared_names(root, names):
    """Files of a directory of src may be compiled as one text: what each has for itself needs a name of its own."""
    users = {}
    for name in sorted(names):
        path = pathlib.PurePath(name)
        if path.suffix == ".cpp" and path.is_relative_to("src") and not path.is_relative_to("src/session/library"):
            for own in set(own_names((root / name).read_text(encoding="utf-8"))):
                other = users.setdefault((path.parent, own), name)
                if other != name:
                    yield f"{name}: {own} is the name of another thing in {other}"


def unnamed_tests(names):
    """A unit test is NAME_test.cpp, or NAME_SUBJECT_test.cpp where one source has several, for a source NAME."""
    sources = {pathlib.PurePath(name).stem for name in names if name.startswith(("src/", "commands/", "tests/support/"))}
    for name in names:
        if name.startswith("tests/unit/") and name.endswith("_test.cpp"):
            words = pathlib.PurePath(name).stem.split("_")[:-1]
            if not any("_".join(words[:count + 1]) in sources for count in range(len(words))):
                yield f"{name}: is not named after a source"


def faults(root, names):
    for name in names:
        top = name.split("/")[0]
        if top not in TOP:
            yield f"{name}: {top} does not belong at the top of the project"
        if pathlib.PurePath(name).suffix in CODE or name in ("CMakeLists.txt", "tests/CMakeLists.txt"):
            yield from faults_of_file(root, name)
        if name.startswith("commands/") and name.endswith(".cpp"):
            yield from faults_of_command(root, name)
    yield from shared_names(root, names)
    yield from unnamed_tests(names)


class Layout(unittest.TestCase):
    def test_the_tree_keeps_its_shape(self):
        names = tracked(ROOT)
        self.assertIn("CMakeLists.txt", names)
        self.assertEqual([], list(faults(ROOT, names)))


class PlantedFaults(unittest.TestCase):
    GOOD = ("// get: print the value of a node.\nnamespace zksh::command_get {\nstruct Args {\n};\n"
            "void declare(Options& o, Args& a) {}\nint run(Context& cx, const Args& a) {}\nextern const Command get_command = make(declare, run);\n")

    def found(self, name, text, **more):
        with tempfile.TemporaryDirectory() as directory:
            files = {name: text, **more}
            for one, content in files.items():
                path = pathlib.Path(directory, one)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            return list(faults(pathlib.Path(directory), files))

    def test_a_good_file_passes(self):
        self.assertEqual([], self.found("commands/get.cpp", self.GOOD))
        lines = self.GOOD.replace("Context& cx, const Args& a", "Context& cx").splitlines(keepends=True)
        self.assertEqual([], self.found("commands/get.cpp", "".join(lines[:2] + lines[5:])))
        self.assertEqual([], self.found("src/a.h", "// A: a sentence that is too long for one\n// line.\n"))
        self.assertEqual([], self.found("tests/run.sh", "#!/bin/bash\n# Runs every test.\n"))
        self.assertEqual([], self.found("tests/a.py", '"""Does a thing.\n\nMore of it.\n"""\n'))

    def test_faults_are_found(self):
        for name, text in (("notes.txt", "x"), ("src/a.cpp", "int a;\n"), ("src/a.h", "// no sentence\n"),
                           ("src/a.h", "// no sentence\n\n// One.\n"),
                           ("src/a.cpp", ""),
                           ("commands/set.cpp", self.GOOD),
                           ("commands/get.cpp", self.GOOD.replace("void declare", "void describe")),
                           ("commands/get.cpp", self.GOOD.replace("command_get {", "command_set {")),
                           ("commands/get.cpp", "\n".join([*self.GOOD.splitlines()[:2], *self.GOOD.splitlines()[:1:-1]]))):
            self.assertEqual(1, len(self.found(name, text)), (name, text, self.found(name, text)))

    def test_two_things_of_one_name_in_a_directory(self):
        for own in ("int number_of(int a) { return a; }", "struct Row {", "constexpr auto most = 3;", "[[noreturn]] void fail() {"):
            text = f"// A file.\nnamespace {{\n{own}\n}}  // namespace\n"
            self.assertEqual(1, len(self.found("src/a/a.cpp", text, **{"src/a/b.cpp": text})), own)
            self.assertEqual([], self.found("src/a/a.cpp", text, **{"src/b/a.cpp": text}))

    def test_a_unit_test_without_a_source(self):
        for test, count in (("row", 0), ("row_order", 0), ("rows", 1), ("order", 1)):
            found = self.found("src/a/row.cpp", "// A file.\n", **{f"tests/unit/{test}_test.cpp": "// A test.\n"})
            self.assertEqual(count, len(found), test)


if __name__ == "__main__":
    unittest.main()
