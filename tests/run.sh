#!/bin/bash
# Installs what is missing, builds, and runs all tests with ctest; the reasons of failures come
# last.
#
#   tests/run.sh [--sanitize] [--repeat N] [CTEST-ARGUMENT…]   for instance: tests/run.sh -R
#   transcripts.get
#
# --sanitize also runs unit tests, transcripts and faults with clang's sanitizers, in two more
# builds. --repeat runs everything N times, whatever fails, and ends with a table of what ever did.
# ZKSH_WERROR=ON makes warnings errors. ZKSH_TIDY=ON runs clang-tidy as a test, which takes minutes.
# build/ is shared with src/try.sh.
#
# If only a few tests fail, they run once more, alone; those that pass then are listed at the end as
# unsteady, with the reason of their failure, and do not fail the run. No test gets this twice:
# build/unsteady names what was unsteady, or has failed under --repeat, until it has passed ten times
# in a row, and such a test fails the run at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sanitizers='' repeat='' purposes=(build test)
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize)
      sanitizers="asan=address,undefined tsan=thread"
      purposes+=(sanitize)
      ;;
    --repeat)
      repeat=${2-}
      [[ $repeat =~ ^[1-9][0-9]*$ ]] ||
        { echo "tests/run.sh: --repeat needs a number of runs: --repeat 5" >&2; exit 2; }
      shift
      ;;
    *) break ;;
  esac
  shift
done
[ "${ZKSH_TIDY-}" != ON ] || purposes+=(tidy)

# shellcheck source=src/dependencies.sh
. src/dependencies.sh
install_missing "${purposes[@]}"
# shellcheck source=src/build_directory.sh
. src/build_directory.sh
# shellcheck source=src/c_client.sh
. src/c_client.sh

# build_tests DIRECTORY TARGETS CMAKE-ARGUMENT…: shows the output of configuring only if that fails.
build_tests() {
  local directory=$1 targets=$2
  unpack_c_client "$PWD/$directory" libzookeeper-st-dev
  # For the benchmark's contestants.
  [ "$directory" != build ] || unpack_c_client "$PWD/build" libzookeeper-mt-dev
  configure_to_test "$PWD" "$directory" "${@:3}" >"$directory.log" 2>&1 ||
    { cat "$directory.log"; exit 1; }
  rm "$directory.log"
  # shellcheck disable=SC2086  # several words
  cmake --build "$directory" --parallel --target $targets
}

# The sanitizer builds use clang if installed, to get a second compiler's warnings.
compiler=()
if command -v clang++ >/dev/null; then
  compiler=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
fi
builds=
for sanitizer in $sanitizers; do
  name=${sanitizer%%=*}
  echo "== build-$name"
  targets="zksh unit_tests"
  [ "$name" != asan ] || targets+=" fuzz_replay"
  alone_in "build-$name" build_tests "build-$name" "$targets" "${compiler[@]}" \
    -DZKSH_SANITIZE="${sanitizer#*=}" -DZKSH_UNITY=ON \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g1"
  builds+="${builds:+;}$name=$PWD/build-$name"
done

echo "== build"
alone_in build build_tests build all -DZKSH_SANITIZED_BUILDS="$builds" -DZKSH_TIDY="${ZKSH_TIDY:-OFF}"

# Most tests wait for servers more than they compute.
parallel=(-j "$((2 * $(nproc)))" --no-tests=error)
record=build/unsteady

# test_and_explain RESULTS CTEST-ARGUMENT…: returns ctest's status; sets $why and $failed to the
# reasons and the number of failures.
test_and_explain() {
  local results=$PWD/$1 status=0
  rm -f "$results"
  ctest --test-dir build --output-on-failure --output-junit "$results" "${@:2}" || status=$?
  [ "$status" = 0 ] && return
  failed=0 why=
  [ -f "$results" ] || return "$status"
  why=$(python3 tests/failures.py reasons "$results") || failed=$?
  printf '== why they failed\n%s\n' "$why"
  return "$status"
}

if [ -n "$repeat" ]; then
  rm -rf build/repeat
  mkdir build/repeat
  for run in $(seq -w "$repeat"); do
    echo "== run $run of $repeat"
    test_and_explain "build/repeat/$run.xml" "${parallel[@]}" "$@" || true
    [ -f "build/repeat/$run.xml" ] || exit 1  # ctest has said why
  done
  python3 tests/failures.py note $record build/repeat/*.xml
  echo "== what failed in $repeat runs; build/repeat/RUN.xml has the output"
  exec python3 tests/failures.py table build/repeat/*.xml
fi

status=0
test_and_explain build/tests.xml "${parallel[@]}" "$@" || status=$?
if [ $status != 0 ]; then
  [ "$failed" -gt 0 ] && [ "$failed" -le 3 ] || exit $status
  if ! again=$(python3 tests/failures.py recorded $record build/tests.xml); then
    printf '== unsteady before, so not once more:\n%s\n' "$again"
    exit $status
  fi
  echo "== once more, alone"
  first=$why
  test_and_explain build/alone.xml --rerun-failed || exit
  printf 'UNSTEADY: passed alone, but failed beside others:\n%s\n' "$first"
fi
python3 tests/failures.py note $record build/tests.xml
