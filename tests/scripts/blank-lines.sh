#!/bin/sh
# Blank lines, as scripts do it.
printf '\n\nls /\n\n' | zkCli.sh -server "$ZK" 2>/dev/null | tail -1
