#!/bin/sh
zkCli.sh -server "$ZK" </dev/null >/dev/null 2>&1
echo "status $?"
