#!/bin/sh
# Deleteall surplus, as scripts do it.
zkCli.sh -server "$ZK" create /x 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" deleteall /x 0 2>&1 | tail -1
zkCli.sh -server "$ZK" ls / 2>/dev/null | tail -1
