# shellcheck shell=bash
# Configures build directories, in whatever state they were left; sourced by src/try.sh and tests/run.sh.
#
#   configure_to_try SOURCE DIRECTORY [CMAKE-ARGUMENT…]     only what has not been configured yet
#   configure_to_test SOURCE DIRECTORY [CMAKE-ARGUMENT…]    always, with the tests

# cmake with Ninja, unless the directory works with another generator. What a failed run left behind, and
# makefiles without a make, are no reason to fail again: that starts from nothing.
configure_build() {
  local source=$1 directory=$2 arguments=(-DZKSH_WERROR="${ZKSH_WERROR:-OFF}")
  if ! is_configured "$directory"; then
    arguments+=(-G Ninja -DZKSH_UNITY="${ZKSH_UNITY:-ON}")
    [ ! -e "$directory/CMakeCache.txt" ] || arguments+=(--fresh)
  fi
  arguments+=("${@:3}")  # the last one of two counts
  if command -v ccache >/dev/null; then
    # Clones of the project share what it keeps.
    export CCACHE_BASEDIR=$source CCACHE_NOHASHDIR=1
    arguments+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S "$source" -B "$directory" "${arguments[@]}"
}

is_configured() {
  [ -f "$1/CMakeCache.txt" ] || return
  [ -f "$1/build.ninja" ] || { [ -f "$1/Makefile" ] && command -v make >/dev/null; }
}

# With ZKSH_UNITY, in a directory that is new: it halves a whole build, and makes those after an edit longer. To
# work on zksh: cmake build -DZKSH_UNITY=OFF
# Tests need more packages. A directory that was configured before stays as it is.
configure_to_try() {
  is_configured "$2" || configure_build "$@" -DZKSH_TESTS=OFF
}

configure_to_test() {
  configure_build "$@" -DZKSH_TESTS=ON
}
