#!/bin/bash
# Here document quit status, as scripts do it.
zkCli.sh -server "$ZK" <<EOF >/dev/null 2>&1
create /faas 1
create /faas 2
quit
EOF
echo "status $?"
zkCli.sh -server "$ZK" <<EOF >/dev/null 2>&1
create /other 1
quit
EOF
echo "status $?"
