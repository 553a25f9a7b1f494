#!/bin/bash
# Printf many, as scripts do it.
for i in 1 2 3 4 5; do echo "create /n$i v$i"; done | zkCli.sh -server "$ZK" 2>&1 | grep -c '^Created'
