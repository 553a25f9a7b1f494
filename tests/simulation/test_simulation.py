"""Runs of the simulation: the same ones each time, so that they find the same."""
import os
import pathlib
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SIMULATION = os.environ.get("SIMULATION", "")


def simulate(*arguments):
    return subprocess.run([SIMULATION, *arguments], capture_output=True, text=True, check=False)


class PlantedFaults(unittest.TestCase):
    def test_they_can_be_planted_in_the_present_sources(self):
        patches = sorted((HERE / "faults").glob("*.patch"))
        self.assertTrue(patches)
        for patch in patches:
            with self.subTest(patch.name):
                command = ["patch", "--dry-run", "-s", "-f", "-p1", "-d", HERE.parents[1], "-i", patch]
                result = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(0, result.returncode, result.stdout)


@unittest.skipUnless(SIMULATION, "the simulation is built without sanitizers, for x86-64 and ARM alone")
class Simulation(unittest.TestCase):
    def test_runs_have_no_fault(self):
        result = simulate("--seed", "1", "--runs", "20")
        self.assertEqual(0, result.returncode, result.stderr)
        self.assertIn("20 runs without a fault", result.stdout)

    def test_a_seed_gives_the_same_run_again(self):
        first, second = simulate("--seed", "4", "-v"), simulate("--seed", "4", "-v")
        self.assertEqual(0, first.returncode, first.stderr)
        self.assertEqual(first.stderr, second.stderr)
        self.assertIn("HOLDS", first.stderr)


if __name__ == "__main__":
    unittest.main()
