#!/bin/bash
# Banner grep after, as scripts do it.
zkCli.sh -server "$ZK" create /config "a=1" > /dev/null 2>&1
zkCli.sh -server "$ZK" get /config 2>/dev/null | grep -A 1 WatchedEvent | tail -n 1
