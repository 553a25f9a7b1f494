#!/bin/bash
# Installs what is missing, builds zksh, and starts it on a private ZooKeeper server.
#
#   bash src/try.sh [ARGUMENT…]       arguments are zksh's: bash src/try.sh -c 'ls /'
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$project/build

# shellcheck source=src/dependencies.sh
. "$project/src/dependencies.sh"
install_missing build try

log=$(mktemp)
# What the build says is of interest when it fails, or is still at work after a second.
(
  sleep 1 >/dev/null 2>&1
  echo "Building zksh in $build …"
  exec tail -n +1 -f "$log"
) >&2 &
shower=$!
end_shower() {
  kill $shower 2>/dev/null || true
  wait $shower 2>/dev/null || true
  rm -f "$log"
}
trap end_shower EXIT

build_zksh() {
  # Tests need more packages. A directory that was configured before stays as it is.
  if [ ! -f "$build/build.ninja" ] && [ ! -f "$build/Makefile" ]; then
    local generator=()
    [ -f "$build/CMakeCache.txt" ] || generator=(-G Ninja)
    cmake -S "$project" -B "$build" "${generator[@]}" -DZKSH_TESTS=OFF || return
  fi
  cmake --build "$build" --target zksh --parallel
}
if ! build_zksh >"$log" 2>&1; then
  kill $shower 2>/dev/null || true
  tail -n 100 "$log" >&2
  echo "zksh could not be built." >&2
  exit 1
fi
trap - EXIT
end_shower

exec "$build/zksh" --sandbox "$@"
