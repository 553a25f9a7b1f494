#!/bin/sh
# Option value missing, as scripts do it.
echo 'ls /' | zkCli.sh -server "$ZK" -timeout 2>&1 | tail -1
