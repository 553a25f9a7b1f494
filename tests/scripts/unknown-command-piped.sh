#!/bin/sh
# Unknown command piped, as scripts do it.
printf 'ls /\nfrobnicate\n' | zkCli.sh -server "$ZK" >/dev/null 2>&1; echo "status $?"
printf 'frobnicate\nls /\n' | zkCli.sh -server "$ZK" >/dev/null 2>&1; echo "status $?"
