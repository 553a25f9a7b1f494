"""The server fixture serves, and ends with the process that started it: no test run leaves a server behind."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from server import Server, four_letter_word  # noqa: E402
from znodes import Znodes  # noqa: E402

PYTHON = "/usr/bin/python3"


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def await_true(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_gone(pid):
    try:
        return "\nState:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return True


class ServerFixture(unittest.TestCase):
    def test_data_survive_a_restart(self):
        with Server() as server:
            with Znodes(server.address) as znodes:
                znodes.create("/kept", b"x")
            server.restart()
            with Znodes(server.address) as znodes:
                self.assertEqual(b"x", znodes.get("/kept"))
            server.freeze()
            self.assertEqual("", four_letter_word(server.port, "ruok", timeout=0.3))
            server.thaw()
            self.assertTrue(await_true(lambda: four_letter_word(server.port, "ruok") == "imok"))
            directory = server.directory
        self.assertFalse(os.path.exists(directory))

    def test_a_fixture_ends_with_its_owner_even_when_that_is_killed(self):
        with tempfile.TemporaryDirectory() as directory:
            state = os.path.join(directory, "state")
            owner = subprocess.Popen(["/bin/sh", "-c", f"{PYTHON} {HERE}/server.py start --state {state}; "
                                      "echo started; read line"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                self.assertEqual(b"started\n", owner.stdout.readline())
                address, guardian = pathlib.Path(state).read_text(encoding="utf-8").split()
                self.assertIn("Mode: standalone", four_letter_word(int(address.split(":")[1]), "srvr"))
                (server,) = children_of(int(guardian))
                owner.send_signal(signal.SIGKILL)
            finally:
                owner.kill()
                owner.communicate()
            self.assertTrue(await_true(lambda: is_gone(server) and not os.path.exists(state)))

    def test_a_server_is_killed_with_its_guardian(self):
        with tempfile.TemporaryDirectory() as directory:
            state = os.path.join(directory, "state")
            subprocess.run([PYTHON, HERE / "server.py", "start", "--state", state], check=True,
                           env={**os.environ, "TMPDIR": directory})
            guardian = int(pathlib.Path(state).read_text(encoding="utf-8").split()[1])
            (server,) = children_of(guardian)
            os.kill(guardian, signal.SIGKILL)
            self.assertTrue(await_true(lambda: is_gone(server)))


if __name__ == "__main__":
    unittest.main()
