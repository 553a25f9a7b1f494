#!/bin/sh
# Missing argument, as scripts do it.
zkCli.sh -server "$ZK" get 2>&1 | tail -1
zkCli.sh -server "$ZK" create >/dev/null 2>&1
echo "status $?"
