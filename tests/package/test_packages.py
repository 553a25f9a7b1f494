"""cpack: the Debian package is complete and has the program's version; the source tarball builds."""
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

ZKSH = pathlib.Path(os.environ.get("ZKSH", "build/zksh")).absolute()
BUILD = ZKSH.parent
EXPECTED = {
    "usr/bin/zksh", "usr/share/man/man1/zksh.1.gz", "usr/share/man/man5/zksh-tree.5.gz",
    "usr/share/man/man5/zksh-json.5.gz", "usr/share/man/man5/zksh-txnlog.5.gz",
    *(f"usr/lib/zksh/bin/{name}" for name in ("zkCli.sh", "zookeeper-client", "zookeeper-shell", "zookeeper-shell.sh")),
    "usr/share/man/man7/zksh-locks.7.gz", "usr/share/man/man7/zksh-security.7.gz", "usr/share/doc/zksh/README.md",
    "usr/share/doc/zksh/copyright", "usr/share/doc/zksh/changelog.Debian.gz",
    "usr/share/bash-completion/completions/zksh", "usr/share/zsh/vendor-completions/_zksh",
    "usr/share/fish/vendor_completions.d/zksh.fish", "usr/share/lintian/overrides/zksh",
} | {f"usr/share/doc/zksh/examples/{path.name}"
     for path in (pathlib.Path(__file__).resolve().parents[1] / "examples").iterdir() if path.suffix in (".sh", ".zk")}


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=200,
                            check=False, **options)
    if result.returncode:
        raise AssertionError(f"{command}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class Packages(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.version = run(ZKSH, "--version").split()[1]

    def test_debian(self):
        run("cpack", "-G", "DEB", "-B", self.directory, cwd=BUILD)
        package, = self.directory.glob("*.deb")
        fields = run("dpkg-deb", "-f", package)
        self.assertIn("Package: zksh\n", fields)
        self.assertIn(f"Version: {self.version}-", fields)
        self.assertRegex(fields, r"(?m)^Depends: .*\blibc6\b")
        self.assertIn("Conflicts: zksh-tls\n", fields)
        # Loaded when it is needed, and so not found by dpkg-shlibdeps.
        self.assertRegex(fields, r"(?m)^Recommends: .*\blibssl3.*\blibsasl2-2\b")
        top = self.directory / "unpacked"
        run("dpkg-deb", "-x", package, top)
        self.assertEqual(EXPECTED,
                         {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()})
        self.assertEqual(self.version, run(top / "usr/bin/zksh", "--version").split()[1])

    def test_the_program_is_hardened(self):
        self.assertRegex(run("readelf", "-dW", ZKSH), r"FLAGS_1.*\bNOW\b.*\bPIE\b")
        self.assertIn("GNU_RELRO", run("readelf", "-lW", ZKSH))

    def test_sources(self):
        run("cpack", "--config", "CPackSourceConfig.cmake", "-B", self.directory, cwd=BUILD)
        tarball, = self.directory.glob("*.tar.gz")
        self.assertEqual(f"zksh-{self.version}.tar.gz", tarball.name)
        with tarfile.open(tarball) as archive:
            archive.extractall(self.directory)
        top = self.directory / f"zksh-{self.version}"
        listed = [path.name for path in pathlib.Path(__file__).parent.glob("*.py")]
        self.assertIn("test_packages.py", listed)
        for name in listed:
            self.assertTrue((top / "tests/package" / name).exists(), name)
        self.assertFalse((top / ".git").exists())
        self.assertFalse(list(top.glob("build*")))
        # All files are there: it configures, and every rule of the build finds what it is made from.
        run("cmake", "-S", top, "-B", top / "build", "-G", "Ninja", "-DZKSH_TESTS=OFF",
            f"-DCMAKE_PREFIX_PATH={BUILD}/libzookeeper-st-dev/usr")
        run("ninja", "-C", top / "build", "-n")


if __name__ == "__main__":
    unittest.main()
