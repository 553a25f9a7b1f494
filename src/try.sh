#!/bin/bash
# Installs what is missing, builds zksh, and starts it on a private ZooKeeper server.
#
#   bash src/try.sh [ARGUMENT…]       the arguments are zksh's: bash src/try.sh -c 'ls /'
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$project/build

# shellcheck source=src/dependencies.sh
. "$project/src/dependencies.sh"
install_missing build try
# shellcheck source=src/build_directory.sh
. "$project/src/build_directory.sh"
# shellcheck source=src/c_client.sh
. "$project/src/c_client.sh"

log=$(mktemp)
# Shows the build's output only if it fails, or still runs after a second; a person sees the
# progress and the remaining time on one line.
show_progress() {
  sleep 1 >/dev/null 2>&1
  echo "Building zksh in $build …"
  [ -t 2 ] || exec tail -n +1 -f "$log"
  local began=$SECONDS line made all left
  while sleep 0.5 >/dev/null 2>&1; do
    line=$(tail -n 1 "$log")
    [[ $line != Waiting* ]] || printf '\r\e[K%s' "$line"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    made=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} left=
    [ "$made" -lt 20 ] || left=", about $(((SECONDS - began) * (all - made) / made)) s left"
    printf '\r\e[K%d of %d files%s' "$made" "$all" "$left"
  done
}
show_progress >&2 &
shower=$!
end_shower() {
  kill $shower 2>/dev/null || true
  wait $shower 2>/dev/null || true
  [ ! -t 2 ] || printf '\r\e[K' >&2
  rm -f "$log"
}
trap end_shower EXIT

build_zksh() {
  unpack_c_client "$build" libzookeeper-st-dev || return
  configure_to_try "$project" "$build" || return
  cmake --build "$build" --target zksh --parallel
}
if ! alone_in "$build" build_zksh >"$log" 2>&1; then
  kill $shower 2>/dev/null || true
  tail -n 100 "$log" >&2
  echo "zksh could not be built." >&2
  exit 1
fi
trap - EXIT
end_shower

exec "$build/zksh" --sandbox "$@"
