#!/bin/sh
zkCli.sh -server "$ZK" ls2 / >/dev/null 2>&1
echo "status $?"
