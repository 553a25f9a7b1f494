#!/usr/bin/python3
"""Runs clang-tidy over every compiled file: tidy.py BUILD [FILE…]. Files that passed unchanged are not checked again."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program():
    found = shutil.which("clang-tidy") or shutil.which("clang-tidy-14")
    if not found:
        sys.exit("clang-tidy is not installed")
    return found


def common_hash(tidy):
    """Of all that every file's result depends on: headers, rules, the program itself."""
    digest = hashlib.sha256(subprocess.run([tidy, "--version"], capture_output=True, check=True).stdout)
    for path in [ROOT / ".clang-tidy", *sorted((ROOT / "src").rglob("*.h")), *sorted(
            (ROOT / "tests").rglob("*.h"))]:
        digest.update(path.read_bytes())
    return digest


def check(tidy, build, entry, common):
    """The complaints about one file; empty when there are none."""
    source = pathlib.Path(entry["file"])
    digest = common.copy()
    digest.update(source.read_bytes() + entry.get("command", "").encode())
    stamp = build / "tidy" / (re.sub(r"[/.]", "_", str(source.relative_to(ROOT))) + ".passed")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest.hexdigest():
        return ""
    result = subprocess.run([tidy, "-p", str(build), "--quiet", str(source)], capture_output=True,
                            text=True, check=False)
    if result.returncode:
        noise = re.compile(r"^(\d+ warnings? (generated|treated)|Suppressed |Use -header-filter).*\n?", re.M)
        return result.stdout + noise.sub("", result.stderr)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(digest.hexdigest(), encoding="utf-8")
    return ""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    only = {pathlib.Path(name).resolve() for name in sys.argv[2:]}
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = pathlib.Path(entry["file"]).resolve()
        if source.is_relative_to(ROOT) and not source.is_relative_to(build) and (
                not only or source in only):
            entries[source] = entry
    if not entries:
        sys.exit("no file to check")
    tidy = program()
    common = common_hash(tidy)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for complaints in pool.map(lambda entry: check(tidy, build, entry, common), entries.values()):
            failed += bool(complaints)
            print(complaints, end="", flush=True)
    print(f"{len(entries) - failed} of {len(entries)} files are clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
