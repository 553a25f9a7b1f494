#!/bin/bash
# Create sequential, as scripts do it.
zkCli.sh -server "$ZK" create /queue q >/dev/null 2>&1
for i in 1 2 3; do
  zkCli.sh -server "$ZK" create -s /queue/job- "job $i" 2>&1 | awk '/Created/ {print $2}'
done
