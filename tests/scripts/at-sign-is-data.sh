#!/bin/sh
# At sign is data, as scripts do it.
zkCli.sh -server "$ZK" create /mail @ops >/dev/null 2>&1
zkCli.sh -server "$ZK" get /mail 2>/dev/null | tail -1
zkCli.sh -server "$ZK" create /dash - >/dev/null 2>&1
zkCli.sh -server "$ZK" get /dash 2>/dev/null | tail -1
