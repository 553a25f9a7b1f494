#!/bin/bash
# A script that sources zkCli.sh, and is called so itself: it goes on afterwards, whatever shell runs it.
cat >my-zkCli.sh <<'X'
. "$(command -v zkCli.sh)" "$@" >/dev/null 2>&1 <<Y
create /by-$SH 1
Y
echo "went on: $?"
X
for sh in bash dash "bash --posix"; do SH=${sh// /} $sh my-zkCli.sh -server "$ZK"; done
mkdir sub && mv my-zkCli.sh sub/zkCli.sh && cd sub && SH=same bash ./zkCli.sh -server "$ZK"
