#!/bin/bash
# Delete not empty, as scripts do it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /app 1
create /app/x 2
EOF
if ! err=$(zkCli.sh -server "$ZK" delete /app 2>&1 >/dev/null); then
  case $err in
    *"Node not empty"*) zkCli.sh -server "$ZK" deleteall /app && echo removed ;;
  esac
fi
