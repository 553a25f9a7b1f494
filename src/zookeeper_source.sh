#!/bin/bash
# Fetches ZooKeeper's source with apt, for -DZKSH_ZOOKEEPER_SOURCE, and prints the tarball's name.
#
#   src/zookeeper_source.sh DIRECTORY     for instance build/zookeeper-source
#
# Needs no root, and does not change the system's apt: the sources are those of the machine's own
# packages. Does not fetch again what is there.
set -euo pipefail
directory=${1:?the directory to fetch into}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

tarball() { find "$directory" -maxdepth 1 -name 'zookeeper_*.orig.tar.*' ! -name '*.asc' | head -n 1; }

if [ -z "$(tarball)" ]; then
  if ! command -v apt-get >/dev/null; then
    echo "There is no apt-get here to download ZooKeeper's source; use a release from Apache instead." >&2
    exit 1
  fi
  apt=$directory/apt
  trap 'rm -rf "$apt"' EXIT
  mkdir -p "$apt/sources.list.d" "$apt/lists/partial" "$apt/cache"
  # Both of apt's formats, with packages replaced by sources.
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$file" ] || sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file" >>"$apt/sources.list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/sources.list.d/${file##*/}"
  done
  options=(-q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts="$apt/sources.list.d"
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)")
  [ -f "$apt/sources.list" ] || : >"$apt/sources.list"
  # If one source lacks it, another may have it: the result shows whether it was enough.
  apt-get "${options[@]}" update </dev/null >&2 || true
  (cd "$directory" && apt-get "${options[@]}" source --download-only --only-source zookeeper </dev/null >&2)
fi
found=$(tarball)
[ -n "$found" ] || { echo "apt did not download zookeeper_*.orig.tar.*" >&2; exit 1; }
printf '%s\n' "$found"
