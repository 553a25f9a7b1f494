#!/bin/bash
# Echo e quit, as scripts do it.
echo -e "create /one 1\nget /one\nquit" | zkCli.sh -server "$ZK" 2>/dev/null | grep -v -e WATCHER -e WatchedEvent -e '^$'
