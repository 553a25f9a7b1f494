#!/usr/bin/python3
"""Runs clang-tidy over the program's files: tidy.py BUILD [FILE…]. Skips unchanged files that passed before.

Tests are checked when they are named: what they do wrong shows when they run, and they would take half of the time.

Nearly all of clang-tidy's time goes into what the headers declare, the same for every file. So files are checked
several at a time, as one text; only where such a batch has complaints is each of its files checked by itself, and
what is printed comes from there.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# With more, what the files themselves cost outweighs the headers, and a complaint costs more to place.
BATCH = 16
# The analyzer's deep mode takes eight times as long; the tests run under two sanitizers besides.
ANALYZER = ["-Xclang", "-analyzer-config", "-Xclang", "mode=shallow"]
# gcc's precompiled headers, which clang cannot read.
PRECOMPILED = re.compile(r" -Winvalid-pch -include \S+/cmake_pch\.hxx")
# What is allowed to a text of several files alone.
ALLOWED_TOGETHER = {"-Wno-shadow", "-Wno-subobject-linkage"}
# Declared at the start of a line: functions, types, constants. Files that share one cannot be one text.
NAMES = re.compile(r"^(?:\w[\w:<>,*&\[\] ]*[ *&>])?(\w+)\(|^(?:struct|class|enum class|enum|using) (\w+)|"
                   r"^(?:inline |static |const |constexpr |thread_local |std::)[\w:<>,*& ]*?[ *&](\w+)(?: =|\{|\[|;)", re.M)

# What a header declares with a body: a file with a name of its own that is the same can be with no other file.
HEADER_NAMES = re.compile(r"^(?:struct|class|enum class|using) (\w+)|^inline [\w:<>,*& ]*[ *&](\w+)\(", re.M)


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


class Source:
    """A compiled file: its text, how it is compiled, and where it is noted that it passed."""

    def __init__(self, path, entry, build, common):
        self.path = path
        self.text = self.path.read_text(encoding="utf-8")
        words = shlex.split(PRECOMPILED.sub("", entry["command"]).replace(" -freorder-functions", ""))  # gcc's alone
        self.directory = entry["directory"]
        # Without the compiler, what it writes, and the file itself.
        self.flags = tuple(word for word in words[1:words.index("-o")] if word not in ALLOWED_TOGETHER)
        digest = common.copy()
        digest.update(self.text.encode() + shlex.join(self.flags).encode())
        self.digest = digest.hexdigest()
        self.stamp = build / "tidy" / (re.sub(r"[/.]", "_", str(self.path.relative_to(ROOT))) + ".passed")

    def passed(self):
        return self.stamp.exists() and self.stamp.read_text(encoding="utf-8") == self.digest

    def note_pass(self):
        self.stamp.write_text(self.digest, encoding="utf-8")

    def names(self):
        return {name for found in NAMES.findall(self.text) for name in found if name}

    def own_namespace(self, number):
        """The text in a namespace of its own, so that its names are nobody else's; None where other files need it."""
        if self.path.parent == ROOT / "src" or self.path.with_suffix(".h").exists():
            return None
        text, opened = re.subn(r"^namespace (zksh(?:::command_\w+)?) \{$", rf"namespace \1::file{number} {{", self.text, flags=re.M)
        return text if opened == 1 else None


def files_of(entry):
    """The sources that an entry of compile_commands.json compiles: with ZKSH_UNITY, those that its file includes."""
    path = pathlib.Path(entry["file"]).resolve()
    if path.parent.name != "Unity":
        return [path]
    included = re.findall(r'^#include "(.+)"$', path.read_text(encoding="utf-8"), re.M)
    return [pathlib.Path(name).resolve() for name in included]


def header_names():
    return {name for header in (ROOT / "src").rglob("*.h")
            for found in HEADER_NAMES.findall(header.read_text(encoding="utf-8")) for name in found if name}


def packed(sources):
    """Lists of sources that are compiled alike and, where they must share a namespace, share no name."""
    common_names = header_names()
    batches = collections.defaultdict(list)
    for number, source in enumerate(sources):
        text = source.own_namespace(number)
        names = set() if text else source.names()
        alone = source.path if names & common_names else None
        kind = (source.flags, source.directory, source.path.parent, bool(text), alone)
        for batch in batches[kind]:
            if len(batch["files"]) < BATCH and not names & batch["names"]:
                break
        else:
            batch = {"files": [], "texts": [], "names": set()}
            batches[kind].append(batch)
        batch["files"].append(source)
        batch["texts"].append(text or source.text)
        batch["names"] |= names
    return [batch for alike in batches.values() for batch in alike]


def one_text(texts):
    """The texts one after another; what one includes that an earlier one has included is left out."""
    included, lines = set(), []
    for text in texts:
        kept = ["" if line in included else line for line in text.split("\n")]
        included |= {line for line in kept if line.startswith("#include ")}
        lines += kept
    return "\n".join(lines)


def run_tidy(tidy, file, like, *flags):
    """clang-tidy over `file`, compiled as the source `like` is, and with `flags`."""
    # What a test does wrong shows when it runs, under two sanitizers; paths are followed through the product alone.
    analyzed = not like.path.is_relative_to(ROOT / "tests")
    command = [tidy, "--quiet", f"--config-file={ROOT / '.clang-tidy'}",
               "--checks=" + ("" if analyzed else "-clang-analyzer-*"), str(file), "--", *like.flags,
               "-iquote", str(like.path.parent), *flags, *ANALYZER]
    return subprocess.run(command, cwd=like.directory, capture_output=True, text=True, check=False)


def complaints_of(tidy, source):
    """What clang-tidy says of one file; empty when nothing."""
    result = run_tidy(tidy, source.path, source)
    if result.returncode:
        noise = re.compile(r"^(\d+ warnings? (generated|treated)|Suppressed |Use -header-filter).*\n?", re.M)
        return result.stdout + noise.sub("", result.stderr)
    source.note_pass()
    return ""


def check(tidy, build, number, batch):
    """The complaints about a batch's files, one text for each file that has any."""
    files = batch["files"]
    if len(files) > 1:
        text = build / "tidy" / f"batch{number}.cpp"
        text.write_text(one_text(batch["texts"]), encoding="utf-8")
        # What one file names, another's parameters may be called; within a file, builds of single files tell.
        result = run_tidy(tidy, text, files[0], "-Wno-shadow")
        if result.returncode == 0:
            for source in files:
                source.note_pass()
            return []
    return [found for found in (complaints_of(tidy, source) for source in files) if found]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    (build / "tidy").mkdir(exist_ok=True)
    only = {pathlib.Path(name).resolve() for name in sys.argv[2:]}
    tidy = program()
    common = common_hash(tidy)
    sources = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        for path in files_of(entry):
            if path in only or (not only and (path.is_relative_to(ROOT / "src") or path.is_relative_to(ROOT / "commands"))):
                sources[path] = Source(path, entry, build, common)
    if not sources:
        sys.exit("no file to check")
    batches = packed([source for source in sources.values() if not source.passed()])
    # The long ones first: a long one at the end would run alone.
    batches.sort(key=lambda batch: -sum(len(text) for text in batch["texts"]))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for complaints in pool.map(lambda numbered: check(tidy, build, *numbered), enumerate(batches)):
            failed += len(complaints)
            print("".join(complaints), end="", flush=True)
    print(f"{len(sources) - failed} of {len(sources)} files are clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
