#!/bin/sh
printf "connect $ZK\nls /\n" | zkCli.sh -server "$ZKHOST" 2>&1 | tail -n 1
