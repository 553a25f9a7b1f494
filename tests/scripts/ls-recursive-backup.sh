#!/bin/bash
# Ls recursive backup, as scripts do it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /r r
create /r/b 2
create /r/a 1
create /r/a/x 3
EOF
zkCli.sh -server "$ZK" ls -R /r 2>/dev/null | grep '^/' | while read -r path; do
  echo "$path=$(zkCli.sh -server "$ZK" get "$path" 2>/dev/null </dev/null | tail -1)"
done
