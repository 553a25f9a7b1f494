"""The server fixture serves, and ends with the process that started it: no test run leaves a server behind."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from running_processes import children, is_running
from server import Server, four_letter_word
from waiting import wait_until
from znodes import Znodes

PYTHON = sys.executable
SERVER = pathlib.Path(__file__).resolve().parent / "server.py"


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
            wait_until(lambda: four_letter_word(server.port, "ruok") == "imok")
            directory = server.directory
        self.assertFalse(os.path.exists(directory))

    def test_a_fixture_ends_with_its_owner_even_when_that_is_killed(self):
        with tempfile.TemporaryDirectory() as directory:
            state = os.path.join(directory, "state")
            owner = subprocess.Popen(["/bin/sh", "-c", f"{PYTHON} {SERVER} start --state {state}; "
                                      "echo started; read line"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                self.assertEqual(b"started\n", owner.stdout.readline())
                address, guardian = pathlib.Path(state).read_text(encoding="utf-8").split()
                self.assertIn("Mode: standalone", four_letter_word(int(address.split(":")[1]), "srvr"))
                (server,) = children(int(guardian))
                owner.send_signal(signal.SIGKILL)
            finally:
                owner.kill()
                owner.communicate()
            wait_until(lambda: not is_running(server) and not os.path.exists(state))

    def test_a_second_run_does_not_take_the_server_of_the_first(self):
        with tempfile.TemporaryDirectory() as directory:
            state = os.path.join(directory, "state")
            start = [PYTHON, SERVER, "start", "--state", state]
            subprocess.run(start, check=True)
            first = pathlib.Path(state).read_text(encoding="utf-8")
            second = subprocess.run(start, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((second.returncode, second.stderr),
                             (1, f"another run of the tests is under way: it holds {state}.lock\n"))
            self.assertEqual(pathlib.Path(state).read_text(encoding="utf-8"), first)
            subprocess.run([PYTHON, SERVER, "stop", "--state", state], check=True)
            subprocess.run(start, check=True)
            subprocess.run([PYTHON, SERVER, "stop", "--state", state], check=True)

    def test_a_server_is_killed_with_its_guardian(self):
        with tempfile.TemporaryDirectory() as directory:
            state = os.path.join(directory, "state")
            subprocess.run([PYTHON, SERVER, "start", "--state", state], check=True,
                           env={**os.environ, "TMPDIR": directory})
            guardian = int(pathlib.Path(state).read_text(encoding="utf-8").split()[1])
            (server,) = children(guardian)
            os.kill(guardian, signal.SIGKILL)
            wait_until(lambda: not is_running(server))


if __name__ == "__main__":
    unittest.main()
