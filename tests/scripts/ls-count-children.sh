#!/bin/bash
# Ls count children, as scripts do it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /w w
create /w/a 1
create /w/b 1
create /w/c 1
EOF
zkCli.sh -server "$ZK" ls /w 2>/dev/null | tail -1 | tr ',' '\n' | wc -l
zkCli.sh -server "$ZK" stat /w 2>/dev/null | awk '/numChildren/ {print $3}'
zkCli.sh -server "$ZK" getAllChildrenNumber / 2>/dev/null | tail -1
