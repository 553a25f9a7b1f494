#!/bin/sh
# Which commands has this zkCli?
zkCli.sh -server "$ZK" help 2>&1 | grep -c -E '^[[:space:]](deleteall|rmr) '
zkCli.sh -server "$ZK" help >/dev/null 2>&1
echo "status $?"
