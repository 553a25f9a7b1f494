#!/bin/bash
# Prints a tree, a get for each node.
zkCli.sh -server "$ZK" create /tree x
printf "create /tree/a 1\ncreate /tree/a/b 2\ncreate /tree/c 3\n" | zkCli.sh -server "$ZK" >/dev/null 2>&1
for p in $(zkCli.sh -server "$ZK" ls -R /tree | grep "^/"); do
  echo "$p=$(zkCli.sh -server "$ZK" get $p 2>/dev/null | tail -1)"
done
