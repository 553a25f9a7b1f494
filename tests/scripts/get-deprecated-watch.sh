#!/bin/sh
# Get deprecated watch, as scripts do it.
zkCli.sh -server "$ZK" create /foo bar >/dev/null 2>&1
zkCli.sh -server "$ZK" get /foo bar 2>&1 | tail -2
