#!/bin/sh
printf 'watch /a\nedit /a\n' | timeout 20 zkCli.sh -server "$ZK" >/dev/null 2>&1
echo "status $?"
