"""Checks which directory may include which: includes only point down the layers, and without cycles."""
import fnmatch
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')

# The directories of src from the bottom up: what each may include besides itself, and commands.
LAYERS = {
    "src/base": "",
    "src/client": "base",
    "src/session": "base client",
    "src/sandbox": "base client",
    "src/recipes": "base client",
    "src/txnlog": "base client",
    "src/term": "base",
    "src/config": "base client",
    "src/command": "base client config",
    "src/ensemble": "base client config command",
    "src/node": "base client config command ensemble",
    "src/tree": "base client config command ensemble node txnlog",
    "src/lock": "base client config command ensemble node tree recipes txnlog",
    "commands": "base client config command ensemble node tree lock recipes sandbox txnlog",
    "src/shell": "base client config command ensemble node tree lock recipes sandbox session term txnlog",
    "src": "base client config command ensemble node tree lock recipes sandbox session term shell txnlog",
}
WHY = {
    "src/base": "what is in base is usable from anywhere",
    "src/client": "the operations on ZooKeeper know nothing of who asks for them",
    "src/session": "the seam to ZooKeeper's library knows nothing above it",
    "src/txnlog": "the servers' files are read without a server, and without a command",
    "src/recipes": "recipes know the Client, and nothing of the shell or of output",
    "src/term": "the terminal knows nothing of ZooKeeper",
    "commands": "a command knows its Context, and nothing of the shell",
}
# Within the shell: the loop of the main thread, and the parsed arguments are below what is typed and run.
BELOW_THE_SHELL = ["src/shell/loop.*", "src/shell/arguments.*"]
TYPED = ["src/shell/shell.*", "src/shell/interpreter*", "src/shell/script.*"]
# Headers of libraries, and the only files that include them.
LIBRARIES = [
    ("zookeeper/*", ["src/session/*"]),
    ("CLI/*", ["src/config/configuration.cpp", "src/shell/arguments.cpp"]),
    ("readline/*", ["src/term/*"]),
    ("re2/*", ["src/base/regex.cpp"]),
    ("zlib.h", ["src/base/zlib.cpp"]),
    ("nlohmann/*", ["src/base/json.cpp", "src/tree/tree_text.cpp"]),
    ("gtest/*", ["tests/*"]),
    ("gmock/*", ["tests/*"]),
]
# A library's names, and the header that has them in every version of it: where an older version has them in another
# header too, or a unity build brings them along, only a build elsewhere finds that the include is missing.
HEADERS = [("fmt::join(", "fmt/ranges.h")]


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def layer(file):
    """The directory of src that a file belongs to: src/session for src/session/library/tls.h."""
    return "/".join(pathlib.PurePath(file).parts[:2 if file.count("/") > 1 else 1])


class Graph:
    """The include graph of a tree: src/, commands/ and tests/."""

    def __init__(self, root):
        self.includes = {}  # file → [(line, file or library header)]
        self.uses = []  # (file, name of HEADERS)
        for directory in ("src", "commands", "tests"):
            for path in sorted((root / directory).rglob("*")):
                if path.suffix in (".h", ".cpp", ".c"):
                    file, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
                    self.includes[file] = list(self._read(path, text, root))
                    self.uses += ((file, name) for name, _ in HEADERS if name in text)

    @staticmethod
    def _read(path, text, root):
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line.strip())
            if not match:
                continue
            name = match[1] or match[2]
            for base in (path.parent, root / "src"):
                if match[1] and (base / name).is_file():
                    name = (base / name).resolve().relative_to(root.resolve()).as_posix()
                    break
            yield number, name

    def chains(self, start):
        """All that a file reaches: (line of the first include, the chain of files)."""
        seen, stack = set(), [(line, [name]) for line, name in self.includes[start]]
        while stack:
            line, chain = stack.pop()
            if chain[-1] in seen:
                continue
            seen.add(chain[-1])
            yield line, chain
            stack.extend((line, chain + [name]) for _, name in self.includes.get(chain[-1], ()))

    def faults(self):
        for file, name in self.uses:
            header = dict(HEADERS)[name]
            if all(chain[-1] != header for _, chain in self.chains(file)):
                yield f"{file}:1: {name.rstrip('(')} wants <{header}>"
        for file in self.includes:
            yield from self._library_faults(file)
            if not file.startswith("tests/"):
                yield from self._layer_faults(file)
            for line, chain in self.chains(file):
                if chain[-1] == file and file.endswith(".h"):
                    yield f"{file}:{line}: includes itself, through {' → '.join(chain)}"
                if matches(file, BELOW_THE_SHELL) and matches(chain[-1], TYPED):
                    yield f"{file}:{line}: must not include {chain[-1]}: it is below the shell"

    def _layer_faults(self, file):
        own = layer(file)
        if own not in LAYERS:
            yield f"{file}:1: {own} is no layer; {pathlib.Path(__file__).name} lists them"
            return
        seen = {own, *(f"src/{name}" for name in LAYERS[own].split())}
        for line, name in self.includes[file]:
            if name in self.includes and layer(name) not in seen:
                why = WHY.get(own, f"{own} is below it, or beside it")
                yield f"{file}:{line}: must not include {name}: {why}"

    def _library_faults(self, file):
        for line, name in self.includes[file]:
            for library, users in LIBRARIES:
                if fnmatch.fnmatchcase(name, library) and not matches(file, users) \
                        and not file.startswith("tests/"):
                    yield f"{file}:{line}: only {', '.join(users)} may include <{name}>"


class IncludeGraph(unittest.TestCase):
    def test_includes_point_downward_only(self):
        graph = Graph(ROOT)
        self.assertIn("src/client/client.h", graph.includes)
        self.assertEqual([], list(graph.faults()))


class PlantedFaults(unittest.TestCase):
    """The check finds what it is there to find."""

    def faults(self, **files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in files.items():
                path = root / name.replace("__", "/").replace("_DOT_", ".")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(Graph(root).faults())

    def assert_found(self, place, **files):
        faults = self.faults(**files)
        self.assertEqual(1, len(faults), faults)
        self.assertTrue(faults[0].startswith(place), faults)

    def test_downward_includes_are_fine(self):
        self.assertEqual([], self.faults(
            commands__get_DOT_cpp='#include "command/command.h"\n',
            src__command__command_DOT_h='#include "client/client.h"\n', src__client__client_DOT_h="",
            src__session__library__tls_DOT_cpp="#include <zookeeper/zookeeper.h>\n"))

    def test_a_name_without_its_header(self):
        self.assert_found("src/base/words.cpp:1: fmt::join wants <fmt/ranges.h>",
                          src__base__words_DOT_h="#include <fmt/format.h>\n",
                          src__base__words_DOT_cpp='#include "base/words.h"\nauto a = fmt::join(b, c);\n')
        self.assertEqual([], self.faults(
            src__base__words_DOT_h="#include <fmt/ranges.h>\n",
            src__base__words_DOT_cpp='#include "base/words.h"\nauto a = fmt::join(b, c);\n'))

    def test_a_command_that_includes_the_shell(self):
        self.assert_found("commands/get.cpp:2:", src__shell__shell_DOT_h="",
                          commands__get_DOT_cpp='\n#include "shell/shell.h"\n')

    def test_a_layer_that_includes_upward(self):
        self.assert_found("src/node/handy.h:1:", src__shell__shell_DOT_h="",
                          src__node__handy_DOT_h='#include "shell/shell.h"\n',
                          commands__get_DOT_cpp='#include "node/handy.h"\n')

    def test_a_recipe_that_includes_output(self):
        self.assert_found("src/recipes/lock.cpp:1:", src__command__output_DOT_h="",
                          src__recipes__lock_DOT_cpp='#include "command/output.h"\n')

    def test_a_terminal_that_knows_the_client(self):
        self.assert_found("src/term/editor.cpp:1:", src__client__client_DOT_h="",
                          src__term__editor_DOT_cpp='#include "client/client.h"\n')

    def test_a_loop_that_includes_the_shell(self):
        self.assert_found("src/shell/loop.h:1:", src__shell__shell_DOT_h="",
                          src__shell__loop_DOT_h='#include "shell/shell.h"\n')

    def test_a_directory_that_is_no_layer(self):
        self.assert_found("src/misc/handy.h:1:", src__misc__handy_DOT_h="")

    def test_the_program_includes_no_tests(self):
        self.assert_found("src/shell/run.cpp:1:", tests__support__fake_DOT_h="",
                          src__shell__run_DOT_cpp='#include "../../tests/support/fake.h"\n')

    def test_libraries_behind_their_seams(self):
        for library in ("zookeeper/zookeeper.h", "readline/readline.h", "CLI/CLI.hpp", "re2/re2.h", "gtest/gtest.h"):
            self.assert_found("src/tree/walk.cpp:1:", src__tree__walk_DOT_cpp=f"#include <{library}>\n")

    def test_headers_that_include_each_other(self):
        self.assertEqual(2, len(self.faults(src__base__a_DOT_h='#include "base/b.h"\n',
                                            src__base__b_DOT_h='#include "base/a.h"\n')))


if __name__ == "__main__":
    unittest.main()
