#!/bin/bash
# Tokens and quotes, as scripts do it.
zkCli.sh -server "$ZK" 2>&1 <<'EOF' | tail -n 6
create /q1 "two words"
create /q2 it's
create /q3 'open
create /q4 $'x\ty'
get /q1
get /q2
get /q3
get /q4
EOF
