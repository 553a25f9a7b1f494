#!/bin/bash
# Builds and tries zksh as a newcomer would, on fresh machines: a minimal Debian of each release
# named.
#
#   tests/machines.sh [OPTION…] RELEASE…     for instance: tests/machines.sh --quick bookworm trixie
#   forky
#
#   --quick             no tests: only src/try.sh, and the package of the program that it built
#   --order try,test    what to run, in order; `test,try` and `try,test,try` are of interest too
#   --mirror URL        the package mirror; by default, the first that this machine's apt uses
#   --keep DIRECTORY    keeps the machines there, and reuses those that it finds there
#
# Then makes the Debian package, checks it with lintian if installed, and installs, runs and purges
# it on another fresh machine. Needs root and debootstrap; a release takes minutes, with the tests
# an hour.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
quick='' order=try,test mirror='' kept=''

complain() {
  echo "tests/machines.sh: $1" >&2
  exit 2
}

while [[ ${1-} == --* ]]; do
  case $1 in
    --quick) quick=yes order=try ;;
    --order) order=$2; shift ;;
    --mirror) mirror=$2; shift ;;
    --keep) kept=$2; shift ;;
    *) complain "there is no option $1" ;;
  esac
  shift
done
[ $# -gt 0 ] || complain "name a release of Debian: tests/machines.sh --quick trixie"
[ "$(id -u)" = 0 ] || complain "a fresh machine needs root"
command -v debootstrap >/dev/null || complain "debootstrap is not installed: apt-get install debootstrap"
if [ -z "$mirror" ]; then
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
  [ -n "$mirror" ] || complain "this machine's apt has no source of packages; use --mirror"
fi

if [ -n "$kept" ]; then
  mkdir -p "$kept"
  directory=$(cd "$kept" && pwd)
else
  directory=$(mktemp -d /var/tmp/zksh-machines.XXXXXX)
  trap 'rm -rf "$directory"' EXIT
fi

# fresh RELEASE ROOT
fresh() {
  [ ! -e "$2/etc/debian_version" ] || return 0
  # A debootstrap older than the release does not know its name, but all Debian releases are built
  # alike.
  local script=/usr/share/debootstrap/scripts/$1
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  debootstrap --variant=minbase "$1" "$2" "$mirror" "$script" >"$directory/debootstrap.log" ||
    { tail -n 20 "$directory/debootstrap.log"; return 1; }
  # A mirror may have been frozen for longer than its lists are valid.
  echo 'Acquire::Check-Valid-Until "false";' >"$2/etc/apt/apt.conf.d/frozen-mirror"
}

# within ROOT COMMAND…: runs in its own namespaces, so that nothing stays mounted or running.
within() {
  local root=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child sh -c '
    mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/run" &&
      exec chroot "$0" "$@"' "$root" \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} "$@" </dev/null
}

# Copies the files that git knows, as they are here.
copy_sources() {
  mkdir -p "$1"
  git -C "$project" ls-files -z --cached --others --exclude-standard |
    tar -C "$project" --null --files-from=- --ignore-failed-read -cf - | tar -C "$1" -xf -
}

try() {
  within "$1" bash zksh/src/try.sh -c version
  [ "$(within "$1" bash zksh/src/try.sh -c 'ls /')" = zookeeper ] || { echo "ls / did not list /zookeeper"; return 1; }
  # Each command at least parses its words: what libraries accept in its declaration differs.
  # shellcheck disable=SC2016
  within "$1" sh -c 'for file in zksh/commands/*.cpp; do
    name=$(basename "$file" .cpp) status=0
    timeout 20 zksh/build/zksh --connect-timeout 100ms "$name" x >/dev/null 2>/tmp/said || status=$?
    [ "$status" -lt 128 ] || { echo "$name crashed: status $status, $(cat /tmp/said)"; exit 1; }
  done'
}

run_tests() { within "$1" bash zksh/tests/run.sh; }

# package ROOT: makes the package, and prints its name.
package() {
  local build="build"
  within "$1" apt-get -q -y --no-install-recommends install dpkg-dev file git >&2
  if [ -z "$quick" ]; then
    build="build-deb"
    # File by file, which shows that each includes what it needs.
    within "$1" sh -c 'cd zksh && cmake -S . -B build-deb -G Ninja -DZKSH_TESTS=OFF' >&2
  fi
  within "$1" sh -c "cd zksh && cmake --build $build --parallel && cd $build && rm -f *.deb && cpack -G DEB" >&2
  (cd "$1/zksh/$build" && realpath ./*.deb)
}

# try_package DEB ROOT
try_package() {
  local name=${1##*/}
  cp "$1" "$2/tmp/"
  within "$2" apt-get -q update >&2
  within "$2" apt-get -q -y --no-install-recommends install "/tmp/$name" >&2
  within "$2" zksh --version
  within "$2" zksh -c 'help ls' >/dev/null
  within "$2" apt-get -q -y purge zksh >&2
  [ ! -e "$2/usr/bin/zksh" ] || { echo "purging the package left the program"; return 1; }
}

machine() {
  local release=$1 root=$directory/$1 step deb
  fresh "$release" "$root"
  copy_sources "$root/zksh"
  for step in ${order//,/ }; do
    echo "== $release: $step"
    case $step in
      try) try "$root" ;;
      test) run_tests "$root" ;;
      *) complain "--order takes try and test, not $step" ;;
    esac
  done
  echo "== $release: the package"
  deb=$(package "$root")
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "$deb"
  fi
  fresh "$release" "$directory/$release-package"
  try_package "$deb" "$directory/$release-package"
}

failed=''
for release in "$@"; do
  # In a subshell, so that `set -e` ends it at the first failure.
  log=$directory/$release.log
  status=0
  (machine "$release") > >(tee "$log") 2>"$directory/$release.errors" & wait $! || status=$?
  if [ $status = 0 ]; then
    echo "== $release: passed"
  else
    tail -n 60 "$directory/$release.errors"
    echo "== $release: FAILED"
    failed+=" $release"
  fi
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
