#!/bin/sh
# Set stat, as scripts do it.
zkCli.sh -server "$ZK" create /s 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" set -s /s 22 2>/dev/null | grep -E 'dataVersion|dataLength'
