#!/bin/bash
# The here-document's last command decides: nodes that exist already do not matter.
set -e
for run in 1 2; do
  zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /druid d
create /druid/discovery d
get /druid
EOF
  echo "run $run done"
done
