#!/bin/bash
# Sourced with a here-document: the script goes on afterwards.
set -- -server "$ZK"
. "$(command -v zkCli.sh)" "$@" <<EOF >/dev/null 2>&1
create /sourced 1
EOF
echo "went on: $?"
