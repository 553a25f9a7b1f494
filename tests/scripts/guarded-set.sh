#!/bin/bash
# A set that expects a version.
zkCli.sh -server "$ZK" create /v 1
zkCli.sh -server "$ZK" set -v 0 /v 2
echo $?
zkCli.sh -server "$ZK" set -v 0 /v 3
echo $?
zkCli.sh -server "$ZK" set -s /v 4 | grep dataVersion
