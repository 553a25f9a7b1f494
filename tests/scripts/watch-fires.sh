#!/bin/sh
# Watch fires, as scripts do it.
printf 'create /w 1\nget -w /w\nset /w 2\nget /w\n' | zkCli.sh -server "$ZK" 2>/dev/null | grep -A 2 -e WATCHER | grep 'type:Node'
