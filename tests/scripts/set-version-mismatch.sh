#!/bin/sh
# Set version mismatch, as scripts do it.
zkCli.sh -server "$ZK" create /s 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" set -v 7 /s 2 2>&1 | tail -1
zkCli.sh -server "$ZK" set -v 0 /s 3 >/dev/null 2>&1; echo $?
