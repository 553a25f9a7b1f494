#!/bin/sh
# Ls deprecated watch, as scripts do it.
zkCli.sh -server "$ZK" create /d 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" ls / true 2>/dev/null | tail -1
