#!/bin/bash
# Create json, as scripts do it.
data='{"host":"db1","port":5432,"tags":["a","b"]}'
zkCli.sh -server "$ZK" create /db "$data" > /dev/null 2>&1
zkCli.sh -server "$ZK" get /db 2>/dev/null | grep '^{' | sed 's/.*"port":\([0-9]*\).*/\1/'
