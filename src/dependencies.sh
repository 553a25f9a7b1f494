# The Debian packages that zksh needs, and why; sourced by src/try.sh and tests/run.sh.
#
#   install_missing PURPOSE…     PURPOSE: build, try, test, sanitize or tidy
#
# Lists what is missing and installs it with apt-get, as root or through sudo. Output goes to
# stderr.

# Purposes; package; a command that succeeds if the package is not needed; the reason.
zksh_dependencies() {
  cat <<'END'
build      | g++                  | command -v c++      | compiles zksh (C++20)
build      | cmake                | command -v cmake    | configures the build
build      | ninja-build          | command -v ninja    | runs the build
build      | pkgconf              | command -v pkg-config | finds what static libraries need of others
build      | libzookeeper-mt-dev  |                     | ZooKeeper's C client
build      | libcli11-dev         |                     | parses the arguments of commands
build      | libfmt-dev           |                     | formats text
build      | libreadline-dev      |                     | edits the typed line
build      | libre2-dev           |                     | matches regular expressions in linear time
build      | zlib1g-dev           |                     | reads values that are compressed
build      | nlohmann-json3-dev   |                     | writes JSON
try test   | libzookeeper-java    | apache_zookeeper    | the ZooKeeper server for private servers
try test   | default-jre-headless | java_runtime        | the Java that the server runs on
try test   | less                 | command -v less     | shows what is longer than the screen
test       | libgtest-dev         |                     | GoogleTest, for the unit tests
test       | libgmock-dev         |                     | its matchers
test       | libssl-dev           |                     | TLS, in the C client that is built from source
test       | libsasl2-dev         |                     | SASL, in the same
test       | libsasl2-modules     |                     | its DIGEST-MD5
test       | openssl              | command -v openssl  | makes certificates
test       | python3              | test -x /usr/bin/python3 | runs the transcripts and screen tests
test       | python3-jsonschema   |                     | holds what -o json prints against its schema
test       | python3-kazoo        |                     | another client, which changes nodes behind zksh's back
test       | libcurator-recipes-java |               | Curator's locks, which zksh shares paths with
test       | default-jdk-headless | command -v javac | compiles the programs that use Java's locks
test       | golang-go            | command -v go    | compiles the one that uses Go's
test       | golang-github-samuel-go-zookeeper-dev |  | the Go client and its lock
test       | python3-pexpect      |                     | types at a terminal
test       | tmux                 | command -v tmux     | a terminal whose screen the tests can read
test       | procps               | command -v pgrep    | finds processes that should be gone
test       | dpkg-dev             | command -v dpkg-shlibdeps | finds what the Debian package depends on
test       | file                 | command -v file     | tells cpack which files are programs
test       | git                  | command -v git      | tells the project's files from others
test       | zookeeper            |                     | zkCli.sh, to compare with
sanitize   | clang                | command -v clang++  | the second compiler, for the sanitizer builds
sanitize   | libclang-rt-dev      |                     | clang's sanitizers
test       | clang-format         | command -v clang-format | checks the layout of the code
tidy       | clang-tidy           | command -v clang-tidy   | checks the code
test       | mandoc               | command -v mandoc   | checks the manual page
test       | bash-completion      |                     | how most people's bash loads completions
test       | zsh                  | command -v zsh      | the completions are tried in it
test       | fish                 | command -v fish     | the completions are tried in it
END
}

java_runtime() { [ -x "${JAVA_HOME:-/none}/bin/java" ] || command -v java; }
apache_zookeeper() { [ -n "${ZOOKEEPER_HOME:-}" ] && ls "$ZOOKEEPER_HOME"/lib/zookeeper-*.jar; }

# Prints "package | reason" for each missing package.
zksh_missing() {
  local purposes=" $* " of package unless reason purpose wanted
  local -A reasons=()
  local order=()
  while IFS='|' read -r of package unless reason; do
    wanted=
    for purpose in $of; do
      case $purposes in *" $purpose "*) wanted=yes ;; esac
    done
    package=${package// /}
    [ -n "$wanted" ] || continue
    # shellcheck disable=SC2086
    if [ -n "${unless// /}" ] && $unless >/dev/null 2>&1; then continue; fi
    reasons[$package]=${reason# }
    order+=("$package")
  done < <(zksh_dependencies)
  [ ${#reasons[@]} -gt 0 ] || return 0

  local status installed
  while read -r status installed; do
    [ "$status" != ii ] || unset "reasons[$installed]"
  done < <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${order[@]}" 2>/dev/null)
  for package in "${order[@]}"; do
    [ -z "${reasons[$package]-}" ] || printf '%s | %s\n' "$package" "${reasons[$package]}"
  done
}

install_missing() {
  local missing packages as_root=()
  missing=$(zksh_missing "$@")
  [ -n "$missing" ] || return 0
  mapfile -t packages < <(printf '%s\n' "$missing" | cut -d' ' -f1)

  {
    local purposes="$*"
    echo "zksh needs ${#packages[@]} more package(s) to ${purposes// / and to }:"
    printf '%s\n' "$missing" | awk -F ' [|] ' '{ printf "  %-22s %s\n", $1, $2 }'
  } >&2
  if ! command -v apt-get >/dev/null; then
    echo "There is no apt-get here. Install what these Debian packages hold by other means, then:" >&2
    echo "  cmake -S . -B build -G Ninja -DZKSH_TESTS=OFF -DZKSH_UNITY=ON && cmake --build build --parallel && build/zksh" >&2
    return 1
  fi
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Installing needs root, and there is no sudo. As root: apt-get install ${packages[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing them with apt-get …" >&2
  zksh_apt_get "${packages[@]}" || {
    # The usual cause: package lists are missing (a fresh container) or outdated.
    "${as_root[@]}" apt-get -q update </dev/null >&2 && zksh_apt_get "${packages[@]}"
  } || {
    echo "apt-get could not install: ${packages[*]}" >&2
    return 1
  }
}

# --no-remove: do not remove what others need, such as libzookeeper-st-dev.
zksh_apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
    --no-remove -o Dpkg::Use-Pty=0 install "$@" </dev/null >&2
}
