#!/bin/sh
# Quiet success, as scripts do it.
zkCli.sh -server "$ZK" create /q 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" set /q 2 2>/dev/null | tail -n +5
zkCli.sh -server "$ZK" delete /q 2>/dev/null | tail -n +5
echo end
