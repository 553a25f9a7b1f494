#!/bin/sh
# Tail 2 head 1, as scripts do it.
zkCli.sh -server "$ZK" create /x y >/dev/null 2>&1
zkCli.sh -server "$ZK" get -s /x 2>/dev/null | tail -12 | head -1
