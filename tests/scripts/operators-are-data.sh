#!/bin/bash
# Input without a last newline; pipes and semicolons are data.
zkCli.sh -server "$ZK" create /mx x
echo -n "get /mx" | zkCli.sh -server "$ZK" | tail -1
echo "get /mx;ls /" | zkCli.sh -server "$ZK" 2>&1 | tail -1
echo "get /mx > f" | zkCli.sh -server "$ZK" 2>&1 | tail -1
ls f
