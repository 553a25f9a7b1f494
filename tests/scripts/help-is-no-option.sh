#!/bin/sh
# zkCli has no --help, so what follows it is refused, or is another word's value.
printf 'create /a --help\nget --help /a\nls --help\nls /\n' | zkCli.sh -server "$ZK" 2>&1 |
  grep -E 'Unrecognized|^\[|Created'
zkCli.sh -server "$ZK" get --help 2>&1 | grep -c Unrecognized
zkCli.sh -server "$ZK" create /b --help 2>&1 | tail -n 1
