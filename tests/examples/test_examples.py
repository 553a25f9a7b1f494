"""All examples in the help of all commands work, in order, on a prepared tree."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
from kazoo.client import KazooClient

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import Server  # noqa: E402
from zksh import ZKSH, run_zksh  # noqa: E402

# What an example may rely on, unless an earlier one of the same command creates /app itself.
TREE = ("/app/config", "/app/jobs")
# Lines that come before the examples, and that they speak of.
BEFORE = {"redo": ["ls /"],
          "unlock": ["lock /app/lock", "lock /app/jobs"],
          "revoke": ["lock /app/lock", "lock /app/jobs"],
          "txns": ["lock /app/lock", "unlock --all", "delete /app/lock"]}
# A script has no jobs; tests/screen/test_jobs.py types these.
AT_THE_PROMPT = {"jobs", "fg", "kill"}
# Nothing but a signal ends it; tests/session/test_json.py runs it.
ENDLESS = {"elect -l /app/leader"}


def examples():
    """Command → its example lines."""
    lines = {}
    for entry in run_zksh("--examples").stdout.splitlines():
        name, line = entry.split("\t", 1)
        lines.setdefault(name, []).append(line)
    return lines


def patient(line):
    """The same line, but a server of a busy machine gets time to answer."""
    line = line.replace("--timeout 5s", "--timeout 60s")
    if re.match("(4lw|health|latency|top|wchc)( |$)", line):
        line = line.replace(" -t 1s", " -t 20s") if " -t " in line else re.sub(r"^\w+", r"\g<0> -t 20s", line)
    return line


def makes_app(lines):
    return any(line.split()[:2] == ["create", "/app"] for line in lines)


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(extended_types=True))
        cls.client = KazooClient(cls.server.address)
        cls.client.start()
        cls.addClassCleanup(cls.client.stop)

    def fresh_tree(self, lines):
        for parent in ("/", "/zookeeper/quota"):
            for name in set(self.client.get_children(parent)) - {"zookeeper"}:
                self.client.delete(parent.rstrip("/") + "/" + name, recursive=True)
        for path in () if makes_app(lines) else TREE:
            self.client.create(path, makepath=True)

    @contextlib.contextmanager
    def servers_for(self, name):
        """The options that name the servers: some commands need an ensemble that they may hurt."""
        if name == "sandbox":
            yield ["--sandbox=3"]
        elif name == "reconfig":
            with subprocess.Popen([ZKSH, "--sandbox=3"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) as sandbox:
                servers = re.search(r"zksh -s (\S+)\)", sandbox.stderr.readline())[1].split(",")
                # Server 1 leaves, so the session is with another, which neither leaves nor resigns.
                yield ["-s", servers[1]]
                sandbox.stdin.close()
        else:
            yield ["-s", self.server.address]

    def test_each_command_has_an_example(self):
        self.assertEqual(sorted(path.stem for path in (ROOT / "commands").glob("*.cpp")), sorted(examples()))

    def run_all(self, check, *options, left_out="$^"):
        """Calls check with the result of each command's examples, in a new tree and directory; `left_out`: lines
        like this."""
        for name, lines in examples().items():
            if name in AT_THE_PROMPT:
                continue
            with self.subTest(command=name), self.servers_for(name) as where, \
                    tempfile.TemporaryDirectory(prefix="zksh-examples-") as directory:
                self.fresh_tree(lines)
                lines = [*BEFORE.get(name, []), *(
                    patient(line).replace("/var/lib/zookeeper", self.server.directory + "/data")
                    for line in lines if line not in ENDLESS and not re.search(left_out, line))]
                check(run_zksh(*where, *options, "-f", "-", input="\n".join(lines) + "\n", cwd=directory, timeout=100,
                               env={**os.environ, "VISUAL": "", "EDITOR": "sed -i s/^/x/"}))

    def test_each_example_works(self):
        self.run_all(lambda done: self.assertEqual(0, done.returncode, f"{done.stdout}\n{done.stderr}"))

    def test_each_example_answers_in_json(self):
        """Line by line what the schema allows. Left out are lines whose programs print, too, and what chooses a form."""
        schema = json.loads(run_zksh("--json-schema").stdout)

        def validators(names):
            return [jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}) for name in names]
        own = validators([name for name in schema["$defs"] if not name[0].isupper()] + ["Written"])
        told = validators(["Error", "Note", "Event"])

        def check(done):
            for text, shapes in ((done.stdout, own), (done.stderr, told)):
                for line in text.splitlines():
                    # Not one schema with anyOf: for its message, jsonschema looks at all of each alternative.
                    with self.subTest(line=line):
                        value = json.loads(line)
                        found = next((shape for shape in shapes if shape.is_valid(value)), None)
                        self.assertIsNotNone(found, "not in the schema")
                        shapes.remove(found)
                        shapes.insert(0, found)  # the next line is probably alike
        self.run_all(check, "-o", "json", "-k", left_out=r" -- | -o | -x | [|>] |--exec|\bdate\b")


if __name__ == "__main__":
    unittest.main()
