#!/bin/bash
# Set e pipeline, as scripts do it.
set -eo pipefail
zkCli.sh -server "$ZK" create /p 1 2>&1 | grep -q Created
printf 'create /p 2\nset /p 3\n' | zkCli.sh -server "$ZK" >/dev/null 2>&1
zkCli.sh -server "$ZK" get /p 2>/dev/null | tail -1
zkCli.sh -server "$ZK" get /nothing 2>/dev/null | tail -1
echo not reached
