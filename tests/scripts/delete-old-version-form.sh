#!/bin/sh
# Delete old version form, as scripts do it.
zkCli.sh -server "$ZK" create /v 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" delete /v 0 2>&1 | tail -1
zkCli.sh -server "$ZK" ls / 2>/dev/null | tail -1
