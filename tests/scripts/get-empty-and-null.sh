#!/bin/sh
# Get empty and null, as scripts do it.
zkCli.sh -server "$ZK" create /null >/dev/null 2>&1
zkCli.sh -server "$ZK" create /empty "" >/dev/null 2>&1
zkCli.sh -server "$ZK" get /null 2>/dev/null | tail -1
zkCli.sh -server "$ZK" get /empty 2>/dev/null | tail -1
