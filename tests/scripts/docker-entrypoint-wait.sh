#!/bin/bash
# An entry point that waits for ZooKeeper, then prepares its tree.
set -eu
until zkCli.sh -server "$ZK" ls / >/dev/null 2>&1; do sleep 0.2; done
echo "ZooKeeper is up"
zkCli.sh -server "$ZK" <<EOF >/dev/null 2>&1
create /services s
create /services/web w
EOF
zkCli.sh -server "$ZK" ls /services 2>/dev/null | grep -q web && echo ready
exec true
