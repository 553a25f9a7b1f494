#!/bin/sh
# Empty input, as scripts do it.
zkCli.sh -server "$ZK" </dev/null >/dev/null 2>&1
echo "status $?"
