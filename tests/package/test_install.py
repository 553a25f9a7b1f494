"""cmake --install puts the program, its manual pages and its completions where a distribution expects them."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ZKSH = pathlib.Path(os.environ.get("ZKSH", "build/zksh")).absolute()
EXPECTED = {
    "bin/zksh", "share/man/man1/zksh.1", "share/man/man5/zksh-tree.5", "share/man/man5/zksh-json.5",
    "share/man/man5/zksh-txnlog.5", "share/man/man7/zksh-locks.7", "share/man/man7/zksh-security.7",
    "share/doc/zksh/LICENSE", "share/doc/zksh/README.md",
    "share/bash-completion/completions/zksh", "share/zsh/vendor-completions/_zksh",
    "share/fish/vendor_completions.d/zksh.fish",
    *(f"lib/zksh/bin/{name}" for name in ("zkCli.sh", "zookeeper-client", "zookeeper-shell", "zookeeper-shell.sh")),
} | {f"share/doc/zksh/examples/{path.name}" for path in (pathlib.Path(__file__).parents[1] / "examples").iterdir()
     if path.suffix in (".sh", ".zk")}


class Install(unittest.TestCase):
    def test_what_is_installed_and_that_it_runs(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(["cmake", "--install", ZKSH.parent, "--prefix", "/usr"], check=True, timeout=100,
                           env={**os.environ, "DESTDIR": directory}, stdout=subprocess.DEVNULL)
            top = pathlib.Path(directory, "usr")
            files = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}
            self.assertEqual(EXPECTED, files)
            version = subprocess.run([top / "bin/zksh", "--version"], capture_output=True, text=True,
                                     check=True, timeout=60).stdout
            self.assertRegex(version, r"^zksh \d")
            self.assertIn(f'"{version.splitlines()[0]}"', (top / "share/man/man1/zksh.1").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
