#!/bin/bash
# A scheme that the server does not know ends the session; what is read before is refused, what comes later is not sent.
printf 'addauth nonesuch x\nls /\nls /\n' | zkCli.sh -server "$ZK" 2>&1; echo "status $?"
printf 'addauth nonesuch x\ncreate /x y\nquit\n' | zkCli.sh -server "$ZK" >/dev/null 2>&1; echo "status $?"
zkCli.sh -server "$ZK" addauth nonesuch x; echo "alone: $?"
