#!/bin/sh
# Unreachable piped, as scripts do it.
printf 'ls /\nquit\n' | timeout 20 zkCli.sh -server 127.0.0.1:1 2>/dev/null | grep -q SyncConnected || echo "no ZooKeeper"
