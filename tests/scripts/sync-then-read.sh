#!/bin/sh
# Sync then read, as scripts do it.
zkCli.sh -server "$ZK" sync / 2>/dev/null | tail -1
