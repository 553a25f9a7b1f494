#!/bin/sh
# Helm test foo bar, as scripts do it.
zkCli.sh -server "$ZK" create /foo bar 2>&1 | grep Created
zkCli.sh -server "$ZK" get /foo 2>&1 | grep -x bar
