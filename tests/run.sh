#!/bin/bash
# Installs what is missing, builds, and runs all tests with ctest; the reasons of failures come
# last.
#
#   tests/run.sh [--sanitize] [CTEST-ARGUMENT…]     for instance: tests/run.sh -R transcripts.get
#
# --sanitize also runs unit tests, transcripts and faults with clang's sanitizers, in two more
# builds. ZKSH_WERROR=ON makes warnings errors. ZKSH_TIDY=ON runs clang-tidy as a test, which takes
# minutes. build/ is shared with src/try.sh.
#
# Tests run in parallel, and may time out on a busy machine. If only a few fail, they run once more,
# alone; those that pass then are listed at the end as unsteady, with the reason of their failure,
# and do not fail the run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sanitizers= purposes=(build test)
if [ "${1-}" = --sanitize ]; then
  sanitizers="asan=address,undefined tsan=thread"
  purposes+=(sanitize)
  shift
fi
[ "${ZKSH_TIDY-}" != ON ] || purposes+=(tidy)

# shellcheck source=src/dependencies.sh
. src/dependencies.sh
install_missing "${purposes[@]}"
# shellcheck source=src/build_directory.sh
. src/build_directory.sh
# shellcheck source=src/c_client.sh
. src/c_client.sh

# configure DIRECTORY CMAKE-ARGUMENT…: shows cmake's output only if it fails.
configure() {
  local directory=$1
  unpack_c_client "$PWD/$directory" libzookeeper-st-dev
  configure_to_test "$PWD" "$directory" "${@:2}" >"$directory.log" 2>&1 ||
    { cat "$directory.log"; exit 1; }
  rm "$directory.log"
}

# The sanitizer builds use clang if installed, to get a second compiler's warnings. One of them
# compiles file by file, which checks that each file includes what it needs, and enables -Wshadow,
# which cannot be used for several files together.
compiler=()
if command -v clang++ >/dev/null; then
  compiler=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
fi
builds=
for sanitizer in $sanitizers; do
  name=${sanitizer%%=*} unity=ON
  [ "$name" != asan ] || unity=OFF
  echo "== build-$name"
  configure "build-$name" "${compiler[@]}" -DZKSH_SANITIZE="${sanitizer#*=}" -DZKSH_UNITY=$unity \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g1"
  targets=(zksh unit_tests)
  [ "$name" != asan ] || targets+=(fuzz_replay)
  cmake --build "build-$name" --parallel --target "${targets[@]}"
  builds+="${builds:+;}$name=$PWD/build-$name"
done

echo "== build"
unpack_c_client "$PWD/build" libzookeeper-mt-dev  # for the benchmark's contestants
configure build -DZKSH_SANITIZED_BUILDS="$builds" -DZKSH_TIDY="${ZKSH_TIDY:-OFF}"
cmake --build build --parallel

# test_and_explain CTEST-ARGUMENT…: returns ctest's status; sets $why and $failed to the reasons and
# the number of failures.
test_and_explain() {
  local results=$PWD/build/tests.xml status=0
  rm -f "$results"
  ctest --test-dir build --output-on-failure --output-junit "$results" "$@" || status=$?
  [ "$status" = 0 ] && return
  failed=0 why=
  [ -f "$results" ] || return "$status"
  why=$(python3 tests/failures.py "$results") || failed=$?
  printf '== why they failed\n%s\n' "$why"
  return "$status"
}

# Most tests wait for servers more than they compute.
test_and_explain -j "$((2 * $(nproc)))" --no-tests=error "$@" && exit
status=$?
[ "$failed" -gt 0 ] && [ "$failed" -le 3 ] || exit "$status"
echo "== once more, alone"
first=$why
test_and_explain --rerun-failed || exit
printf 'UNSTEADY: passed alone, but failed beside others:\n%s\n' "$first"
