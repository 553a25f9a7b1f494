#!/bin/sh
# All of the command in one word is an unknown command.
zkCli.sh -server "$ZK" "ls /" >/dev/null 2>&1
echo "status $?"
