# Unpacks one of the packages of ZooKeeper's C client beside the other, which it conflicts with;
# sourced by src/try.sh and tests/run.sh.
#
#   unpack_c_client DIRECTORY PACKAGE     libzookeeper-st-dev or libzookeeper-mt-dev
#
# Does nothing if the package is installed, or unpacked in DIRECTORY/PACKAGE already. Needs no root.
unpack_c_client() {
  local directory=$1 package=$2 unpacked=$1/$2
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" != "ii " ] || return 0
  [ ! -d "$unpacked/usr" ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "There is no apt-get here to download $package; install its equivalent." >&2
    return 1
  fi
  rm -rf "$unpacked.part"
  mkdir -p "$unpacked.part"
  (
    cd "$unpacked.part" || exit
    download=(apt-get -q download -o "APT::Sandbox::User=$(id -un)" "$package")
    "${download[@]}" </dev/null >&2 || {
      # As in install_missing: the package lists are missing or outdated.
      as_root=()
      [ "$(id -u)" = 0 ] || as_root=(sudo)
      "${as_root[@]}" apt-get -q update </dev/null >&2
      "${download[@]}" </dev/null >&2
    } && dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb
  ) || { rm -rf "$unpacked.part"; return 1; }
  rm -rf "$unpacked"
  mv "$unpacked.part" "$unpacked"
}
