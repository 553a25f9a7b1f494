#!/bin/bash
# Runs the tests that need a server on other ZooKeeper servers, and prints a table of what passed.
#
#   tests/versions.sh [VERSION|newest|DIRECTORY]…     default: those of Debian's releases: 3.4.13
#   3.8.0 3.9.3 newest
#
# Needs the build of tests/run.sh. Servers come from Debian's packages
# (tests/support/fetch_servers.py) or the jars in a directory. The table counts test files, without
# those whose tests were all skipped. A version takes ten minutes on two cores; its log is
# build/versions/VERSION.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -f build/CTestTestfile.cmake ] || { echo "tests/versions.sh: build the tests first: tests/run.sh" >&2; exit 2; }
[ $# -gt 0 ] || set -- 3.4.13 3.8.0 3.9.3 newest

# Tests that start their own choice of servers, or measure, are left out.
labels='transcripts|session|screen|interop|hostile|long'
elsewhere='^(bench|asan|tsan)\.|session\.(versions|admin_server)'

mkdir -p build/versions
failed=0 tried=()
for version in "$@"; do
  home=$version
  if [[ $version != */* ]] && ! home=$(python3 -B tests/support/fetch_servers.py "$version"); then
    failed=1  # it has said why
    continue
  fi
  name=$(basename "$home")
  ZOOKEEPER_HOME=$home ctest --test-dir build --label-regex "$labels" --exclude-regex "$elsewhere" \
    --parallel "$(nproc)" --test-output-size-passed 1000000 --output-junit "versions/$name.xml" >"build/versions/$name.log" 2>&1 || failed=1
  grep -E '^\s*[0-9]+ - .*\((Failed|Timeout)' "build/versions/$name.log" | sed "s/^/$name: /" >&2 || true
  tried+=("build/versions/$name.xml")
done

python3 - "${tried[@]}" <<'TABLE'
import collections, pathlib, re, sys, xml.etree.ElementTree as tree

kinds = {"transcripts": "transcripts", "session": "sessions, locks, trees", "screen": "prompt", "interop": "other libraries",
         "hostile": "hostile servers", "faults": "faults"}
print("| ZooKeeper |", " | ".join(kinds.values()), "|")
print("| --- " * (len(kinds) + 1) + "|")
for path in map(pathlib.Path, sys.argv[1:]):
    ran, passed = collections.Counter(), collections.Counter()
    for case in tree.parse(path).iter("testcase"):
        kind = case.get("name").split(".")[0]
        if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            continue
        tests = re.search(r"^Ran (\d+) tests? in .*\n\nOK \(skipped=(\d+)\)", case.findtext("system-out", ""), re.M)
        if tests and tests[1] == tests[2]:
            continue
        ran[kind] += 1
        passed[kind] += case.get("status") == "run"
    print(f"| {path.stem} |", " | ".join(f"{passed[kind]} of {ran[kind]}" for kind in kinds), "|")
TABLE
exit $failed
