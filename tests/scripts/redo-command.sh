#!/bin/sh
# Redo command, as scripts do it.
printf 'create /z 1\nget /z\nredo 1\n' | zkCli.sh -server "$ZK" 2>/dev/null | tail -2
