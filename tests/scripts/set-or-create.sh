#!/bin/bash
# Set or create, as scripts do it.
put() { zkCli.sh -server "$ZK" set "$1" "$2" >/dev/null 2>&1 || zkCli.sh -server "$ZK" create "$1" "$2" >/dev/null 2>&1; }
put /k v1
put /k v2
zkCli.sh -server "$ZK" get /k 2>/dev/null | tail -1
