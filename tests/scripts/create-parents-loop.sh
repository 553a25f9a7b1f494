#!/bin/bash
# Create parents loop, as scripts do it.
path=/kafka/cluster/main
current=
for part in ${path//\// }; do
  current="$current/$part"
  zkCli.sh -server "$ZK" create "$current" "" 2>&1 | grep -E '^(Created|Node already)'
done
