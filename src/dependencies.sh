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
build      | pkgconf              | command -v pkg-config | finds what static libraries depend on
build      | libzookeeper-st-dev  | other_c_client      | ZooKeeper's C client, which needs no threads
build      | libcli11-dev         |                     | parses the arguments of commands
build      | libfmt-dev           |                     | formats text
build      | libreadline-dev      |                     | edits the typed line
build      | libre2-dev           |                     | matches regular expressions in linear time
build      | zlib1g-dev           |                     | decompresses values
build      | nlohmann-json3-dev   |                     | writes JSON
try test   | libzookeeper-java    | apache_zookeeper    | the ZooKeeper server for private servers
try test   | default-jre-headless | java_runtime        | the Java that the server runs on
try test   | less                 | command -v less     | shows output longer than the screen
test       | libgtest-dev         |                     | GoogleTest, for the unit tests
test       | libgmock-dev         |                     | its matchers
build      | libssl-dev           |                     | TLS
build      | libsasl2-dev         |                     | SASL
test       | libzstd-dev          |                     | what OpenSSL's archive needs on Debian 13, for zksh-portable
test       | libsasl2-modules     |                     | DIGEST-MD5 for SASL
test       | libsasl2-modules-gssapi-mit |           | Kerberos for SASL
test       | krb5-kdc             |                     | a Kerberos server
test       | krb5-admin-server    |                     | adds principals to it
test       | krb5-user            |                     | gets tickets
test       | openssl              | command -v openssl  | makes certificates
test       | iproute2             | command -v ss       | shows what a process waits for on the network
test       | python3              | test -x /usr/bin/python3 | runs the transcripts and screen tests
test       | python3-jsonschema   |                     | validates the output of -o json
test       | python3-kazoo        |                     | another client, for changes by others
test       | libcurator-recipes-java |               | Curator's locks, to test sharing with them
test       | default-jdk-headless | command -v javac | compiles the Java lock peers
test       | golang-go            | command -v go    | compiles the Go lock peer
test       | golang-github-samuel-go-zookeeper-dev |  | the Go client and its lock
test       | python3-pexpect      |                     | types at a terminal
test       | expect               |                     | drives a terminal, as people's scripts do
test       | busybox-static       | test -x /bin/busybox | a shell for roots that have no library
test       | tmux                 | command -v tmux     | a terminal that the tests can read
test       | procps               | command -v pgrep    | finds leftover processes
test       | dpkg-dev             | command -v dpkg-shlibdeps | computes the Debian package's dependencies
test       | file                 | command -v file     | detects programs for cpack
test       | git                  | command -v git      | lists the project's files
test       | zookeeper            |                     | zkCli.sh, to compare with
sanitize   | clang                | command -v clang++  | the second compiler, for the sanitizer builds
sanitize   | libclang-rt-dev      |                     | clang's sanitizers
test       | clang-format         | command -v clang-format | checks the code's format
tidy       | clang-tidy           | command -v clang-tidy   | checks the code
test       | mandoc               | command -v mandoc   | checks the manual pages
test       | bash-completion      |                     | loads completions in bash
test       | zsh                  | command -v zsh      | to test the completions
test       | fish                 | command -v fish     | to test the completions
END
}

# The two exclude each other: src/c_client.sh unpacks the one that is missing.
other_c_client() {
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' libzookeeper-mt-dev 2>/dev/null)" = "ii " ]
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
    echo "There is no apt-get here. Install the equivalents of these Debian packages, then run:" >&2
    echo "  cmake -S . -B build -G Ninja -DZKSH_TESTS=OFF -DZKSH_UNITY=ON && cmake --build build --parallel && build/zksh" >&2
    return 1
  fi
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Installing needs root, but there is no sudo. As root, run: apt-get install ${packages[*]}" >&2
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

# --no-remove: do not remove what others need, such as libzookeeper-st-dev. Lock::Timeout: seconds to
# wait for others who install packages, such as the upgrades of a machine's first minutes.
zksh_apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
    --no-remove -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 install "$@" </dev/null >&2
}
