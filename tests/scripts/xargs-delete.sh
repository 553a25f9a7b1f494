#!/bin/bash
# Xargs delete, as scripts do it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /old-1 1
create /old-2 1
create /new 1
EOF
zkCli.sh -server "$ZK" ls / 2>/dev/null | tail -1 | tr -d '[] ' | tr ',' '\n' | grep '^old' | sed 's,^,/,' |
  xargs -n 1 zkCli.sh -server "$ZK" delete >/dev/null 2>&1
echo "status $?"
