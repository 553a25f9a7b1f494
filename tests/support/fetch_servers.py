#!/usr/bin/python3
"""Fetches the ZooKeeper servers of Debian's releases into a cache, for the tests: fetch_servers.py [VERSION|newest]...

Prints the directory of each, laid out as Apache's archive: for $ZOOKEEPER_HOME, and for --sandbox --zookeeper.
Needs apt and no root, and changes nothing of the system: apt works in a directory of its own, with the mirror that
this machine's own apt uses. Without one, or when the mirror lacks a release, it says so and ends with status 77.
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# Version → the release that has it. Their own words are of no use: Debian's 3.9.3 calls itself 3.8.0.
RELEASES = {"3.4.13": "bullseye", "3.8.0": "bookworm", "3.9.3": "trixie"}
NEWEST = "newest"  # of Debian's unstable release, whatever version that is today
# Beside what the server's package itself names. The rest of the closure is Java and the C library.
MORE = ["libslf4j-java", "libnetty-common-java", "libnetty-buffer-java"]


class Unavailable(Exception):
    """The server cannot be had here."""


def cache():
    """What --zookeeper VERSION looks in, too."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base, "zksh-test-servers")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=300,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise Unavailable(f"{command[0]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


class Apt:
    """apt in a directory of its own, for one release."""

    def __init__(self, directory, release):
        self.directory = pathlib.Path(directory)
        for name in ("lists/partial", "cache/archives/partial", "parts", "packages"):
            (self.directory / name).mkdir(parents=True)
        (self.directory / "status").touch()
        mirrors = run("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages").split()
        if not mirrors:
            raise Unavailable("this machine's apt has no source of packages")
        keys = glob.glob("/usr/share/keyrings/debian-archive-*keyring.*")
        if not keys:
            raise Unavailable("Debian's keys are not here: install debian-archive-keyring")
        (self.directory / "sources.list").write_text(
            f"deb [signed-by={sorted(keys)[0]}] {mirrors[0]} {release} main\n", encoding="utf-8")
        self.options = [f"-oDir::Etc::sourcelist={self.directory}/sources.list",
                        f"-oDir::Etc::sourceparts={self.directory}/parts", f"-oDir::State::lists={self.directory}/lists",
                        f"-oDir::State::status={self.directory}/status", f"-oDir::Cache={self.directory}/cache",
                        "-oAPT::Sandbox::User=", "-oAcquire::Languages=none"]
        run("apt-get", *self.options, "update")

    def version(self, package):
        lines = run("apt-cache", *self.options, "policy", package).splitlines()
        found = [line.split()[1] for line in lines if line.strip().startswith("Candidate:")]
        return found[0] if found and found[0] != "(none)" else None

    def dependencies(self, package):
        lines = run("apt-cache", *self.options, "depends", "--no-recommends", "--no-suggests", package).splitlines()
        return [line.split()[-1] for line in lines if line.strip().startswith(("Depends:", "|Depends:"))]

    def unpack(self, packages, root):
        run("apt-get", *self.options, "download", *packages, cwd=self.directory / "packages")
        for package in (self.directory / "packages").glob("*.deb"):
            run("dpkg-deb", "-x", package, root)


def manifest_of(jar):
    with zipfile.ZipFile(jar) as archive:
        text = archive.read("META-INF/MANIFEST.MF").decode()
    return re.sub(r"\r?\n ", "", text)


def jars_named_by(jar):
    """The file names in a jar's manifest."""
    found = re.search(r"^Class-Path: (.*?)\r?$", manifest_of(jar), re.M)
    return [pathlib.Path(name).name for name in found[1].split()] if found else []


def copy_without_class_path(jar, target):
    """Debian's manifests name /usr/share/java, where another version's jars may be."""
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == "META-INF/MANIFEST.MF":
                data = re.sub(r"(?m)^Class-Path: .*\n", "", manifest_of(jar).replace("\r", "")).encode()
                data = b"\n".join(line for line in data.split(b"\n") if len(line) < 70) + b"\n"
            if not re.fullmatch(r"META-INF/[^/]*[.](SF|RSA|DSA)", entry.filename):
                new.writestr(entry, data)


def lay_out(root, home, version):
    """From the packages' files: lib/ with the server, what its manifest names, and a logger."""
    java = root / "usr/share/java"
    server = java / "zookeeper.jar"
    if not server.exists():
        raise Unavailable("the packages have no zookeeper.jar")
    (home / "lib").mkdir(parents=True)
    copy_without_class_path(server, home / "lib" / f"zookeeper-{version}.jar")
    for name in {"slf4j-api.jar", "slf4j-simple.jar", *jars_named_by(server)}:
        if (java / name).exists():
            copy_without_class_path(java / name, home / "lib" / name)


def is_there(home):
    return (home / "lib" / f"zookeeper-{home.name}.jar").exists()


def fetch(version):
    """The directory of a server, which is fetched unless it is there. What is the newest is asked each time."""
    if version != NEWEST and is_there(cache() / version):
        return cache() / version
    if version != NEWEST and version not in RELEASES:
        raise Unavailable(f"no release is known to have ZooKeeper {version}; {', '.join(RELEASES)} are, and {NEWEST}")
    if not shutil.which("apt-get"):
        raise Unavailable("there is no apt-get here to fetch it with")
    release = RELEASES.get(version, "sid")
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache(), prefix=f".{version}-") as directory:
        apt = Apt(pathlib.Path(directory, "apt"), release)
        offered = apt.version("libzookeeper-java")
        if not offered or version not in (NEWEST, offered.partition("-")[0]):
            raise Unavailable(f"Debian {release} has ZooKeeper {offered}, not {version}")
        version = offered.partition("-")[0]
        home = cache() / version
        if is_there(home):
            return home
        wanted = {"libzookeeper-java", *MORE, *apt.dependencies("libzookeeper-java")}
        wanted = [name for name in wanted if name.startswith("lib") and name.endswith("-java") and apt.version(name)]
        apt.unpack(wanted, pathlib.Path(directory, "root"))
        lay_out(pathlib.Path(directory, "root"), pathlib.Path(directory, "home"), version)
        try:
            pathlib.Path(directory, "home").rename(home)
        except OSError:  # another process was faster
            if not home.exists():
                raise
    return home


def main():
    try:
        for version in sys.argv[1:] or RELEASES:
            print(fetch(version), flush=True)
    except (Unavailable, OSError, subprocess.SubprocessError) as error:
        print(f"ZooKeeper {version} cannot be fetched: {error}", file=sys.stderr)
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
