#!/bin/bash
# Nobody reads the output, or all of it: the commands go on, and the status is theirs.
set -o pipefail
zkCli.sh -server "$ZK" ls / | grep -q WatchedEvent; echo "grep -q: $?"
for i in 1 2 3 4 5 6; do echo "create /n$i x"; done | zkCli.sh -server "$ZK" 2>/dev/null | head -1; echo "head: $?"
zkCli.sh -server "$ZK" deleteall /n1 2>&1 | true; echo "true: $?"
zkCli.sh -server "$ZK" create /closed y >&-; echo "closed: $?"
zkCli.sh -server "$ZK" create /full y >/dev/full 2>&1; echo "full: $?"
zkCli.sh -server "$ZK" get /none >/dev/full 2>&1; echo "full, failed: $?"
