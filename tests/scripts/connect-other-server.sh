#!/bin/sh
# Connect other server, as scripts do it.
printf "connect $ZK\nls /\n" | zkCli.sh -server "$ZKHOST" 2>&1 | tail -n 1
