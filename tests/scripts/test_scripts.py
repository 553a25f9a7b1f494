#!/usr/bin/python3
"""Scripts that call zkCli.sh do with zksh in its place what they did before.

Output, status and tree are those that record.py has written down from the real one. README.md lists what differs on
purpose."""
import os
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from runner import Runner, here, install_shims, names
from server import Server


def expected(name):
    own = os.path.join(here, name + ".zksh")  # where zksh differs on purpose
    with open(own if os.path.exists(own) else os.path.join(here, name + ".expected"), encoding="utf-8") as file:
        return file.read()


class ScriptTest(unittest.TestCase):
    maxDiff = None

    def test_scripts(self):
        chosen = os.environ.get("SCRIPTS", "").split() or names()
        with Server({"enforceQuota": "false"}) as server, tempfile.TemporaryDirectory() as directory:
            runner = Runner(server.address, install_shims(directory, os.environ["ZKSH"]))
            with ThreadPoolExecutor(4) as pool:
                results = list(pool.map(runner.run, chosen))
        for name, result in zip(chosen, results):
            with self.subTest(name):
                self.assertEqual(expected(name), result)

    def test_what_differs_is_explained(self):
        own = sorted(file[:-5] for file in os.listdir(here) if file.endswith(".zksh"))
        with open(os.path.join(here, "README.md"), encoding="utf-8") as file:
            text = file.read()
        for name in own:
            self.assertIn(f"| {name} |", text)


if __name__ == "__main__":
    unittest.main()
