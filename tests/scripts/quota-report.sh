#!/bin/sh
# Quota report, as scripts do it.
zkCli.sh -server "$ZK" create /lim 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" delquota /lim 2>&1 | tail -1
zkCli.sh -server "$ZK" delquota /lim >/dev/null 2>&1; echo "status $?"
zkCli.sh -server "$ZK" listquota /lim >/dev/null 2>&1; echo "status $?"
zkCli.sh -server "$ZK" setquota -n abc /lim >/dev/null 2>&1; echo "status $?"
