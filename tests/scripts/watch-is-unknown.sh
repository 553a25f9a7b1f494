#!/bin/sh
# Watch is unknown, as scripts do it.
printf 'watch /a\nedit /a\n' | timeout 20 zkCli.sh -server "$ZK" >/dev/null 2>&1
echo "status $?"
