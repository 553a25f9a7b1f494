"""src/try.sh and tests/run.sh cope with a build/ left by the other or by a failure."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
option(ZKSH_TESTS "Build the tests" ON)
option(ZKSH_UNITY "Several files at a time" OFF)
if(EXISTS ${CMAKE_SOURCE_DIR}/flaw)
  message(FATAL_ERROR "a flaw")
endif()
"""


class BuildDirectory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.source = pathlib.Path(directory.name)
        self.build = self.source / "build"
        (self.source / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")

    def configure(self, purpose, status=0, **environment):
        """Runs configure_to_PURPOSE, and returns what cmake keeps."""
        done = subprocess.run(
            ["/bin/bash", "-c", '. "$1/src/build_directory.sh"; "configure_to_$2" "$3" "$3/build"', "bash",
             ROOT, purpose, self.source],
            capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environment})
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        lines = (self.build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
        return {line.split(":")[0]: line.split("=", 1)[1] for line in lines if "=" in line and line[0] not in "#/"}

    def test_in_either_order_and_again(self):
        self.assertEqual("OFF", self.configure("try")["ZKSH_TESTS"])
        self.assertEqual("ON", self.configure("test")["ZKSH_TESTS"])
        self.assertEqual("ON", self.configure("try")["ZKSH_TESTS"])
        self.assertEqual("ON", self.configure("test")["ZKSH_TESTS"])

    def test_a_first_build_compiles_several_files_at_a_time_and_who_works_on_zksh_says_otherwise(self):
        self.assertEqual("ON", self.configure("try")["ZKSH_UNITY"])
        self.assertEqual("ON", self.configure("test")["ZKSH_UNITY"])
        subprocess.run(["cmake", self.build, "-DZKSH_UNITY=OFF"], check=True, capture_output=True, timeout=60)
        self.assertEqual("OFF", self.configure("test")["ZKSH_UNITY"])
        shutil.rmtree(self.build)
        self.assertEqual("OFF", self.configure("test", ZKSH_UNITY="OFF")["ZKSH_UNITY"])

    def test_after_a_failure(self):
        (self.source / "flaw").touch()
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Unix Makefiles"], check=False,
                       capture_output=True, timeout=60)
        self.configure("try", status=1)
        (self.source / "flaw").unlink()
        self.assertEqual("Ninja", self.configure("try")["CMAKE_GENERATOR"])
        self.assertTrue((self.build / "build.ninja").exists())

    def test_makefiles_stay_unless_there_is_no_make(self):
        programs = self.source / "bin"
        programs.mkdir()
        for name in ("cmake", "ninja"):
            (programs / name).symlink_to(shutil.which(name))
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Unix Makefiles",
                        "-DCMAKE_MAKE_PROGRAM=/bin/true"], check=True, capture_output=True, timeout=60)
        without = self.configure("try", PATH=str(programs))
        self.assertEqual("Ninja", without["CMAKE_GENERATOR"])
        self.assertTrue((self.build / "build.ninja").exists())

        shutil.rmtree(self.build)
        (programs / "make").symlink_to("/bin/true")
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Unix Makefiles",
                        "-DCMAKE_MAKE_PROGRAM=/bin/true"], check=True, capture_output=True, timeout=60)
        self.assertEqual("Unix Makefiles", self.configure("test", PATH=str(programs))["CMAKE_GENERATOR"])

    def test_both_commands_go_through_it(self):
        for script, purpose in (("src/try.sh", "configure_to_try"), ("tests/run.sh", "configure_to_test")):
            text = (ROOT / script).read_text(encoding="utf-8")
            self.assertIn(purpose, text)
            self.assertNotIn("cmake -S", text)
            self.assertIn("alone_in ", text)

    def test_a_build_waits_for_another_in_its_directory(self):
        def alone(*command):
            return subprocess.Popen(
                ["/bin/bash", "-c", '. "$1/src/build_directory.sh"; alone_in "$2" "${@:3}"', "bash", ROOT, self.build,
                 *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        with alone("cat") as first:
            first.stdin.write("building\n")
            first.stdin.flush()
            self.assertEqual("building\n", first.stdout.readline())
            with alone("echo", "built") as second:
                self.assertEqual(f"Waiting for another build in {self.build} …\n", second.stdout.readline())
                first.stdin.close()
                self.assertEqual("built\n", second.stdout.read())


if __name__ == "__main__":
    unittest.main()
