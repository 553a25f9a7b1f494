#!/bin/sh
# Stat of missing, as scripts do it.
zkCli.sh -server "$ZK" stat /void 2>&1 | tail -1
zkCli.sh -server "$ZK" stat /void >/dev/null 2>&1 || echo create it
