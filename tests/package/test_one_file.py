"""The release tarball's one program runs where nothing else is: no C library, no terminfo, no shell.

The roots are private to a mount and network namespace in which this test runs again. Where the system allows none, as in
most containers, the test is skipped."""
import contextlib
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

import pexpect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import Server  # noqa: E402

NAMESPACES = ["unshare", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child"]
NAMESERVER = "127.0.0.53"
BUSYBOX = "/bin/busybox"


def bring_up_loopback():
    """As `ip link set lo up`."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING


@contextlib.contextmanager
def name_server(name, address):
    """Answers for one name, and that there is no other."""
    asked = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((NAMESERVER, 53))

        def serve():
            while True:
                query, client = server.recvfrom(512)
                if query == b"end":
                    return
                end = query.index(b"\0", 12) + 5
                known = query[12:end - 4] == asked
                record = b""
                if known and query[end - 4:end - 2] == b"\0\1":  # an address of IPv4
                    record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(address)
                flags = b"\x81\x80" if known else b"\x81\x83"
                server.sendto(query[:2] + flags + b"\0\1\0" + bytes([bool(record)]) + b"\0\0\0\0" + query[12:end] + record, client)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"end", (NAMESERVER, 53))
            thread.join()


class OneFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="zksh-one-file-")))
        with tarfile.open(os.environ["ZKSH_TARBALL"]) as tarball:
            tarball.extractall(cls.directory)
        cls.release, = cls.directory.glob("zksh-*-linux-*")
        cls.root = cls.directory / "root"
        for name in ("etc", "proc", "tmp"):
            (cls.root / name).mkdir(parents=True)
        (cls.root / "etc/hosts").write_text("127.0.0.1 localhost zk.hosts\n", encoding="utf-8")
        shutil.copy(cls.release / "bin/zksh", cls.root / "zksh")
        subprocess.run(["mount", "-t", "proc", "proc", cls.root / "proc"], check=True)
        cls.addClassCleanup(subprocess.run, ["umount", cls.root / "proc"], check=True)

    def zksh(self, *words, status=0, text="", program="/zksh", **environment):
        done = subprocess.run(["chroot", self.root, program, *words], input=text, capture_output=True, text=True, timeout=60,
                              check=False, env={"PATH": "/bin:/usr/sbin:/usr/bin", **environment})
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_what_the_tarball_holds(self):
        for name in ("bin/zksh", "lib/zksh/bin/zkCli.sh", "share/man/man1/zksh.1", "share/doc/zksh/LICENSE",
                     "share/bash-completion/completions/zksh"):
            self.assertTrue((self.release / name).is_file(), name)
        done = subprocess.run([self.release / "lib/zksh/bin/zkCli.sh", "-server", self.server.address, "ls", "/"],
                              capture_output=True, text=True, timeout=60, check=True)
        self.assertRegex(done.stdout, r"\[.*zookeeper\]\n")

    def test_one_command_a_script_and_piped_lines(self):
        at = ("-s", self.server.address)
        self.assertIn("Created /one", self.zksh(*at, "create", "/one", "1"))
        (self.root / "tmp/script").write_text("get /one\ndelete /one\nget /one\n", encoding="utf-8")
        self.assertEqual("1\nNode does not exist: /one\n/tmp/script:3: stopped", self.zksh(*at, "-f", "/tmp/script", status=4)[:50])
        self.assertIn("zookeeper", self.zksh(*at, text="ls /\n"))
        self.assertIn("List the children", self.zksh("help", "ls"))

    def test_names(self):
        port = self.server.port
        self.assertIn("zookeeper", self.zksh("-s", f"zk.hosts:{port}", "ls", "/"))
        (self.root / "etc/resolv.conf").write_text(f"nameserver {NAMESERVER}\n", encoding="utf-8")
        # The libraries that this names are of another C library.
        (self.root / "lib").mkdir()
        subprocess.run(["cc", "-shared", "-nostdlib", "-xc", "-", "-o", self.root / "lib/libnss_mymachines.so.2"], check=True, text=True,
                       input="__attribute__((constructor)) void end(void) { __builtin_trap(); }")
        (self.root / "etc/nsswitch.conf").write_text("hosts: mymachines resolve files dns\npasswd: systemd sss files\n",
                                                     encoding="utf-8")
        with name_server("zk.example", "127.0.0.1"):
            self.assertIn("zookeeper", self.zksh("-s", f"zk.example:{port}", "ls", "/"))
            said = self.zksh("--connect-timeout", "100ms", "-s", "other.example", "ls", "/", status=3)
        self.assertIn("the name cannot be resolved", said)

    def test_the_prompt_with_completion(self):
        for terminal in ("xterm-256color", "vt100", "of-no-terminfo"):
            with self.subTest(terminal):
                child = pexpect.spawn("chroot", [str(self.root), "/zksh", "-s", self.server.address], encoding="utf-8", timeout=60,
                                      env={"TERM": terminal, "PATH": os.environ["PATH"]}, dimensions=(24, 80))
                self.addCleanup(child.close, force=True)
                child.expect(r"\(CONNECTED\) 0\] ")
                child.send("crea\t/n one")
                child.send("\x1b[D\x1b[D\x1b[3~\x1b[Ht\x7f\r")  # Left, Left, Delete, Home: "oe"
                child.expect("Created /n")
                child.expect(r"\(CONNECTED\) 1\] ")
                child.send("get /zook\t")
                child.expect("eeper")
                child.send("\x15get /n\r")
                child.expect(r"\noe\r")
                child.expect(r"\(CONNECTED\) 2\] ")
                child.send("\x1b[A\x1b[A\x01\x0bdelete /n\r")
                child.expect(r"\(CONNECTED\) 3\] ")
                child.send("quit\r")
                child.expect(pexpect.EOF)

    def test_a_lock_with_a_program(self):
        at = ("-s", self.server.address)
        held = self.zksh(*at, "lock", "-q", "/lock", "/zksh", *at, "-o", "plain", "ls", "/lock")
        self.assertRegex(held, r"^\S+-lock-\d{10}\n$")

    def test_no_sandbox_without_java(self):
        self.assertIn("--sandbox needs Java", self.zksh("--sandbox", status=1))

    def test_beside_busybox(self):
        """As in the smallest containers that have a shell."""
        (self.root / "bin").mkdir()
        shutil.copy(BUSYBOX, self.root / "bin/sh")
        (self.root / "bin/dirname").symlink_to("sh")
        shutil.copytree(self.release, self.root / "opt")
        at = ("-server", self.server.address)
        self.assertRegex(self.zksh(*at, "ls", "/", program="/opt/lib/zksh/bin/zkCli.sh"),
                         r"\nWatchedEvent .*\n\[.*zookeeper\]\n")
        self.assertEqual("held 3\n", self.zksh("-s", self.server.address, "lock", "-q", "/busy", "sh", "-c",
                                              'echo "held ${ZKSH_LOCK_TOKEN:+3}"'))


def main():
    if "ZKSH_TARBALL" not in os.environ:
        sys.exit(77)
    if "inside" not in sys.argv:
        tried = subprocess.run([*NAMESPACES, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, check=False)
        if tried.returncode:
            print(f"skipped: this system allows no namespaces: {tried.stderr}", end="")
            sys.exit(77)
        os.execvp(NAMESPACES[0], [*NAMESPACES, sys.executable, "-B", __file__, "inside"])
    sys.argv.remove("inside")
    bring_up_loopback()
    unittest.main()


if __name__ == "__main__":
    main()
