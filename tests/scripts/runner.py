"""Runs the scripts of this directory, with the real zkCli or with zksh in its place, and describes what came of it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from znodes import NO_AUTH, ZnodeError, Znodes

SHIMS = ("zkCli.sh", "zookeeper-client", "zookeeper-shell", "zookeeper-shell.sh")
# The real zkCli of Debian, with a logger that says nothing (without one it complains on stderr), and with what Netty needs for TLS.
REAL = """#!/bin/sh
java -XX:TieredStopAtLevel=1 -Xshare:auto -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar:\\
/usr/share/java/netty-handler.jar:/usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar \\
  $CLIENT_JVMFLAGS $JVMFLAGS org.apache.zookeeper.ZooKeeperMain """


def names():
    return sorted(file[:-3] for file in os.listdir(here) if file.endswith(".sh"))


def install_real(directory):
    for name in SHIMS:
        shell = "shell" in name  # as Kafka's script
        usage = "[ $# -gt 0 ] || { echo USAGE; exit 1; }\n" if shell else ""
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(REAL.replace("\njava", "\n" + usage + "java") + ('-server "$@"\n' if shell else '"$@"\n'))
        os.chmod(path, 0o755)
    return directory


def install_shims(directory, zksh):
    """As `cmake --install` does, but with a link to the program. Returns the shims' directory."""
    shims = os.path.join(directory, "lib", "zksh", "bin")
    os.makedirs(os.path.join(directory, "bin"))
    os.makedirs(shims)
    os.symlink(os.path.abspath(zksh), os.path.join(directory, "bin", "zksh"))
    with open(os.path.join(here, "..", "..", "src", "shims", "shim.sh.in"), encoding="utf-8") as file:
        template = file.read()
    for name in SHIMS:
        text = template.replace("@NAME@", name).replace("@AS@", "zookeeper-shell" if "shell" in name else "zkcli")
        path = os.path.join(shims, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("@CMAKE_INSTALL_FULL_BINDIR@", "/nonexistent"))
        os.chmod(path, 0o755)
    return shims


def tree_of(znodes, path, root):
    """A line for each node below the root: its path, its value, and whether it is ephemeral."""
    lines = []
    for name in sorted(znodes.children(path)):
        node = f"{path}/{name}"
        try:
            value = repr(znodes.get(node))
        except ZnodeError as error:
            if error.code != NO_AUTH:
                raise
            lines.append(f"{node[len(root):]} no permission")
            continue
        lines.append(f"{node[len(root):]} {value}{' ephemeral' if znodes.owner(node) else ''}")
        lines += tree_of(znodes, node, root)
    return lines


class Runner:
    """The scripts find `directory` first on PATH, the server with a root of their own in $ZK, and alone in $ZKHOST."""

    def __init__(self, address, directory):
        self.address = address
        self.directory = directory

    def run(self, name):
        znodes = Znodes(self.address)
        root = f"/{name}"
        znodes.create(root)
        with tempfile.TemporaryDirectory(prefix="zksh-script-") as work:
            environment = {"PATH": f"{self.directory}:/usr/bin:/bin", "HOME": work, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                           "ZK": self.address + root, "ZKHOST": self.address, "XDG_CONFIG_DIRS": work}
            done = subprocess.run([os.path.join(here, name + ".sh")], env=environment, cwd=work, timeout=120,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tree = tree_of(znodes, root, root)
        znodes.connection.close()
        return self.described(done, tree)

    def described(self, done, tree):
        parts = [("stdout", done.stdout), ("stderr", done.stderr)]
        text = ""
        for part, output in parts:
            shown = output.decode("utf-8", "backslashreplace").replace(self.address, "@SERVER@")
            shown = re.sub(r"0x[0-9a-f]+", "0x<ID>", shown)
            shown = re.sub(r"\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}", "<DATE>", shown)
            if shown:
                text += f"[{part}]\n{shown}" + ("" if shown.endswith("\n") else "\n[no newline]\n")
        return text + f"[status {done.returncode}]\n" + "".join(f"{line}\n" for line in tree)
