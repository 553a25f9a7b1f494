"""Includes point downward only: which file may reach which, also through others."""
import fnmatch
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')

SHELL = ["src/main.*", "src/shell.*", "src/interpreter*", "src/script.*", "src/job.*", "src/loop.*",
         "src/printer.*", "src/term/*"]
CLIENT = ["src/client.*", "src/znode.*", "src/acl.*", "src/operation.*", "src/watch.*"]
COMMAND = ["src/command.*", "src/options.*", "src/help.*", "src/output.*"]

# Who (but not the exceptions) must not reach what, directly or through other headers, and why.
FORBIDDEN = [
    (["commands/*"], [*SHELL, "src/session*"], "a command knows its Context, and nothing of the shell"),
    (["src/recipes/*", "src/walk.*"], [*SHELL, *COMMAND, "src/session*"],
     "recipes know the Client, and nothing of the shell or of output"),
    (["src/term/*"], [*CLIENT, *COMMAND[:3], "src/session*"],
     "the terminal knows nothing of ZooKeeper"),
    ([*CLIENT, "src/session*"], [*SHELL, *COMMAND], "the seam to ZooKeeper knows nothing above it"),
    (COMMAND, [*SHELL, "src/session*"], "commands and their parts are below the shell"),
    (["src/output.*", "src/process.*", "src/words.*", "src/node_path.*"], CLIENT,
     "it is usable from anywhere, since it knows nothing of ZooKeeper"),
    (["src/job.*", "src/loop.*", "src/term/*"], ["src/shell.*", "src/interpreter*", "src/script.*"],
     "jobs, the loop and the terminal are below the shell"),
    (["src/*"], ["commands/*"], "only the generated table knows the commands"),
    (["src/*", "commands/*"], ["tests/*"], "the program knows nothing of its tests"),
]
# Headers of libraries, and the only files that include them.
LIBRARIES = [
    ("zookeeper/*", ["src/session*"]),
    ("CLI/*", ["src/word_binding.cpp", "src/process_options.cpp", "src/configuration_file.cpp"]),
    ("readline/*", ["src/term/*"]),
    ("nlohmann/*", ["src/json.cpp", "src/tree_json.cpp"]),
    ("gtest/*", ["tests/*"]),
    ("gmock/*", ["tests/*"]),
]


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


class Graph:
    """The include graph of a tree: src/, commands/ and tests/."""

    def __init__(self, root):
        self.includes = {}  # file → [(line, file or library header)]
        for directory in ("src", "commands", "tests"):
            for path in sorted((root / directory).rglob("*")):
                if path.suffix in (".h", ".cpp", ".c"):
                    self.includes[path.relative_to(root).as_posix()] = list(self._read(path, root))

    @staticmethod
    def _read(path, root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
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
        for file in self.includes:
            yield from self._library_faults(file)
            for line, chain in self.chains(file):
                if chain[-1] == file and file.endswith(".h"):
                    yield f"{file}:{line}: includes itself, through {' → '.join(chain)}"
                if file.startswith("tests/"):
                    continue
                for who, what, why in FORBIDDEN:
                    own = pathlib.PurePath(file).stem == pathlib.PurePath(chain[-1]).stem
                    if matches(file, who) and matches(chain[-1], what) and not own:
                        through = f" (through {' → '.join(chain)})" if len(chain) > 1 else ""
                        yield f"{file}:{line}: must not include {chain[-1]}{through}: {why}"

    def _library_faults(self, file):
        for line, name in self.includes[file]:
            for library, users in LIBRARIES:
                if fnmatch.fnmatchcase(name, library) and not matches(file, users) \
                        and not file.startswith("tests/"):
                    yield f"{file}:{line}: only {', '.join(users)} may include <{name}>"


class IncludeGraph(unittest.TestCase):
    def test_includes_point_downward_only(self):
        graph = Graph(ROOT)
        self.assertIn("src/client.h", graph.includes)
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
            commands__get_DOT_cpp='#include "command.h"\n', src__command_DOT_h='#include "client.h"\n',
            src__client_DOT_h="", src__session_DOT_cpp="#include <zookeeper/zookeeper.h>\n"))

    def test_a_command_that_includes_the_shell(self):
        self.assert_found("commands/get.cpp:2:", src__shell_DOT_h="",
                          commands__get_DOT_cpp='\n#include "shell.h"\n')

    def test_a_command_that_reaches_the_shell_through_a_header(self):
        self.assert_found("commands/get.cpp:1:", src__shell_DOT_h="",
                          src__handy_DOT_h='#include "shell.h"\n',
                          commands__get_DOT_cpp='#include "handy.h"\n')

    def test_a_recipe_that_includes_output(self):
        self.assert_found("src/recipes/lock.cpp:1:", src__output_DOT_h="",
                          src__recipes__lock_DOT_cpp='#include "output.h"\n')

    def test_a_terminal_that_knows_the_client(self):
        self.assert_found("src/term/editor.cpp:1:", src__client_DOT_h="",
                          src__term__editor_DOT_cpp='#include "client.h"\n')

    def test_a_job_that_includes_the_shell(self):
        self.assert_found("src/job.h:1:", src__shell_DOT_h="", src__job_DOT_h='#include "shell.h"\n')

    def test_libraries_behind_their_seams(self):
        for library in ("zookeeper/zookeeper.h", "readline/readline.h", "CLI/CLI.hpp", "gtest/gtest.h"):
            self.assert_found("src/walk.cpp:1:", src__walk_DOT_cpp=f"#include <{library}>\n")

    def test_headers_that_include_each_other(self):
        self.assertEqual(2, len(self.faults(src__a_DOT_h='#include "b.h"\n',
                                            src__b_DOT_h='#include "a.h"\n')))


if __name__ == "__main__":
    unittest.main()
