#!/bin/bash
# While read paths, as scripts do it.
zkCli.sh -server "$ZK" create /a 1 >/dev/null 2>&1
printf '/a\n/b\n' | while read -r p; do
  if zkCli.sh -server "$ZK" get "$p" </dev/null >/dev/null 2>&1; then echo "$p ok"; else echo "$p missing"; fi
done
