#!/bin/sh
# Semicolon is data, as scripts do it.
printf 'create /semi a;b\nget /semi\n' | zkCli.sh -server "$ZK" 2>/dev/null | tail -1
zkCli.sh -server "$ZK" create /pipe 'a|b>c&' >/dev/null 2>&1
zkCli.sh -server "$ZK" get /pipe 2>/dev/null | tail -1
