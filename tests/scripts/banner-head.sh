#!/bin/sh
# Banner head, as scripts do it.
echo 'ls /' | zkCli.sh -server "$ZK" 2>/dev/null | head -n 3
