#!/usr/bin/python3
"""The Debian package on a fresh Debian 12: fresh_root.py [MIRROR]. Needs root, debootstrap and lintian; takes minutes.

Builds the package in build-deb/, asks lintian, makes a minimal Debian 12 in a temporary directory, lets its apt
install the package with what it depends on, and runs zksh there. MIRROR is where apt gets Debian from; without it,
the first that this machine's own apt uses.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-deb"
RELEASE = "bookworm"


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def own_mirror():
    targets = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"],
                             capture_output=True, text=True, check=True).stdout.split()
    if not targets:
        sys.exit("this machine's apt has no source of packages; name a mirror")
    return targets[0]


def build_package():
    # Linked with the system's libraries, as packages are: their updates reach it.
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DZKSH_TESTS=OFF", "-DZKSH_STATIC=OFF", *launcher)
    run("cmake", "--build", BUILD)
    for old in BUILD.glob("*.deb"):
        old.unlink()
    run("cpack", "-G", "DEB", cwd=BUILD)
    package, = BUILD.glob("*.deb")
    return package


def main():
    if os.geteuid() != 0:
        sys.exit("a fresh root needs root")
    for program in ("debootstrap", "lintian"):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed: apt-get install {program}")
    mirror = sys.argv[1] if len(sys.argv) > 1 else own_mirror()
    package = build_package()
    run("lintian", "--allow-root", "--fail-on", "error", package)
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory, "root")
        run("debootstrap", "--variant=minbase", RELEASE, top, mirror, stdout=subprocess.DEVNULL)
        shutil.copy(package, top / "tmp")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        run("chroot", top, "apt-get", "-q", "-y", "--no-install-recommends", "install", f"/tmp/{package.name}",
            env=environment)
        version = subprocess.run(["chroot", str(top), "zksh", "--version"], capture_output=True, text=True,
                                 check=True).stdout.strip()
        wanted = re.search(r"VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
                           .split("project(", 1)[1]).group(1)
        if version != f"zksh {wanted}":
            sys.exit(f"the installed program says {version!r}, not zksh {wanted}")
        run("chroot", top, "zksh", "-c", "help ls", env=environment, stdout=subprocess.DEVNULL)
        run("chroot", top, "apt-get", "-q", "-y", "purge", "zksh", env=environment)
        if (top / "usr/bin/zksh").exists():
            sys.exit("purging the package left the program")
    print(f"{package.name}: installs, runs and goes again on a fresh {RELEASE}; lintian has no errors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
