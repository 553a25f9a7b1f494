#!/usr/bin/env python3
"""Lets libFuzzer search for inputs that break a parser, and adds inputs that reach new code to the corpus.

    tests/fuzz/run.py [--minutes 10] [--jobs 2] [TARGET…]     all targets, if none is named

Builds with clang, libFuzzer and the address and undefined-behaviour sanitizers in build-fuzz/. A
target begins with the files of tests/fuzz/corpus/TARGET and goes on from where it was the time
before (build-fuzz/found/TARGET). At its end the corpus gets the files that reach most of what was
reached (--keep N of them at most). An input that ends the program is left in build-fuzz/crashes.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-fuzz"
CORPUS = ROOT / "tests/fuzz/corpus"
PROGRAM = BUILD / "tests/fuzz_replay"
LONGEST = 4096
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=0", "UBSAN_OPTIONS": "print_stacktrace=1",
           "LC_ALL": "C.UTF-8"}


def build():
    # Where the other C client is installed, which excludes its package.
    subprocess.run(["bash", "-c", '. "$1/src/c_client.sh" && unpack_c_client "$2" libzookeeper-st-dev', "bash", ROOT, BUILD], check=True)
    configure = ["cmake", "-S", ROOT, "-B", BUILD, "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++",
                 "-DZKSH_SANITIZE=fuzzer-no-link,address,undefined", "-DCMAKE_BUILD_TYPE=None",
                 "-DCMAKE_CXX_FLAGS=-O1 -g1"]
    if not (BUILD / "CMakeCache.txt").exists():
        configure += ["-G", "Ninja"]
    if shutil.which("ccache"):
        configure += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "fuzz_replay"], check=True)


def run(target, words):
    """Exit status and what libFuzzer said."""
    done = subprocess.run(["nice", PROGRAM, *words], cwd=BUILD, env={**os.environ, **OPTIONS, "ZKSH_FUZZ_TARGET": target},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def features(control):
    """File → the features of the code that it reaches, from a merge's control file."""
    lines = control.read_text().splitlines()
    files = [pathlib.Path(line) for line in lines[2:2 + int(lines[0])]]
    return {files[int(words[1])]: set(words[2:]) for words in map(str.split, lines[2 + len(files):]) if words[0] == "FT"}


def cover(reached, most):
    """At most so many files: always the one that reaches most that is new for its size."""
    missing = set().union(*reached.values())
    chosen = []
    while missing and len(chosen) < most:
        best = max(reached, key=lambda path: len(reached[path] & missing) / (path.stat().st_size + 64))
        missing -= reached.pop(best)
        chosen.append(best)
    return chosen


def keep(target, found, most):
    """The corpus gets the files that reach most of what the corpus and the found inputs reach; what was chosen by hand stays."""
    own, control = CORPUS / target, BUILD / f"{target}.merge"
    control.unlink(missing_ok=True)
    unused = BUILD / "merged" / target
    shutil.rmtree(unused, ignore_errors=True)
    unused.mkdir(parents=True)
    run(target, ["-set_cover_merge=1", f"-merge_control_file={control}", unused, own, found])
    reached = features(control)
    by_hand = {path for path in own.iterdir() if not re.fullmatch("[0-9a-f]{12}", path.name)}
    known = set().union(*(reached.get(path, set()) for path in by_hand))
    chosen = [path.read_bytes() for path in cover({path: more - known for path, more in reached.items() if path not in by_hand}, most)]
    for path in set(own.iterdir()) - by_hand:
        path.unlink()
    for data in chosen:
        (own / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)


def fuzz(target, minutes, most):
    found, crashes = BUILD / "found" / target, BUILD / "crashes"
    for directory in (found, crashes, CORPUS / target):
        directory.mkdir(parents=True, exist_ok=True)
    status, said = run(target, [f"-max_total_time={round(minutes * 60)}", f"-max_len={LONGEST}", "-timeout=10",
                                "-rss_limit_mb=2048", "-print_final_stats=1",
                                f"-artifact_prefix={crashes}/{target}-", found, CORPUS / target])
    if status:
        return f"{target}: FAILED\n" + "\n".join(said.splitlines()[-60:])
    keep(target, found, most)
    runs = re.search(r"number_of_executed_units: (\d+)", said)
    reached = re.findall(r"cov: (\d+)", said)
    return f"{target}: {runs[1] if runs else '?'} inputs tried, {reached[-1] if reached else '?'} edges reached"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=10, help="for each target")
    parser.add_argument("--jobs", type=int, default=2, help="targets at the same time")
    parser.add_argument("--keep", type=int, default=40, help="files of the corpus of a target, beside those chosen by hand")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    known = sorted(path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "tests/fuzz").glob("*_fuzz.cpp"))
    unknown = set(arguments.targets) - set(known)
    if unknown:
        parser.error(f"no such target: {' '.join(sorted(unknown))}; there are {' '.join(known)}")
    build()
    failed = False
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(fuzz, target, arguments.minutes, arguments.keep) for target in arguments.targets or known]
        for job in concurrent.futures.as_completed(jobs):
            failed = failed or "FAILED" in job.result()
            print(job.result(), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
