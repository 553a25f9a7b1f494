#!/bin/sh
# Options that zkCli does not know are skipped; -cmd is no cluster.
zkCli.sh -cmd -server "$ZK" ls / 2>/dev/null | tail -1
zkCli.sh -server "$ZK" -foo create /n 1 >/dev/null 2>&1
echo $?
zkCli.sh -server "$ZK" -xyz --zz get /n 2>/dev/null | tail -1
