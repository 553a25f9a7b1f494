#!/bin/sh
# Ls2 of 34, as scripts do it.
zkCli.sh -server "$ZK" ls2 / >/dev/null 2>&1
echo "status $?"
