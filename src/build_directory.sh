# Configures build directories, whatever state they are in; sourced by src/try.sh and tests/run.sh.
#
#   configure_to_try SOURCE DIRECTORY [CMAKE-ARGUMENT…]     only if it has not been configured yet
#   configure_to_test SOURCE DIRECTORY [CMAKE-ARGUMENT…]    always, with the tests
#   alone_in DIRECTORY COMMAND…      waits until no other script builds there, then runs the command

# Runs cmake with Ninja, unless the directory uses another generator. If remains of a failed run, or
# makefiles without make, are in the way, starts from scratch.
configure_build() {
  local source=$1 directory=$2 arguments=(-DZKSH_WERROR="${ZKSH_WERROR:-OFF}")
  if ! is_configured "$directory"; then
    arguments+=(-G Ninja -DZKSH_UNITY="${ZKSH_UNITY:-ON}")
    [ ! -e "$directory/CMakeCache.txt" ] || arguments+=(--fresh)
  fi
  arguments+=("${@:3}")  # the last one of two counts
  if command -v ccache >/dev/null; then
    # Clones of the project share the cache. Without this sloppiness, ccache caches nothing that uses
    # precompiled headers.
    export CCACHE_BASEDIR=$source CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
    arguments+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S "$source" -B "$directory" "${arguments[@]}"
}

is_configured() {
  [ -f "$1/CMakeCache.txt" ] || return
  [ -f "$1/build.ninja" ] || { [ -f "$1/Makefile" ] && command -v make >/dev/null; }
}

# New directories use ZKSH_UNITY: it more than halves a whole build, and lengthens builds after an
# edit. To work on zksh: cmake build -DZKSH_UNITY=OFF. Tests need more packages. A directory that was
# configured before is not changed.
configure_to_try() {
  is_configured "$2" || configure_build "$@" -DZKSH_TESTS=OFF
}

configure_to_test() {
  configure_build "$@" -DZKSH_TESTS=ON
}

# Two builds at once spoil each other's precompiled headers. Both scripts do all that they do in a
# build directory in one such step: what one has configured, the other must not change before it is
# built.
alone_in() {
  mkdir -p "$1"
  (
    flock --nonblock 9 || {
      echo "Waiting for another build in $1 …"
      flock 9
    }
    "${@:2}" 9>&-
  ) 9>"$1/lock"
}
