#!/bin/sh
# History of piped, as scripts do it.
printf 'ls /\nget /x\nhistory\n' | zkCli.sh -server "$ZK" 2>/dev/null | tail -3
