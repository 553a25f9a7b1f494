#!/bin/sh
# Get awk field, as scripts do it.
zkCli.sh -server "$ZK" create /leader "host=node7;port=80" >/dev/null 2>&1
zkCli.sh -server "$ZK" get /leader 2>/dev/null | awk -F'[=;]' '/host=/ {print $2}'
