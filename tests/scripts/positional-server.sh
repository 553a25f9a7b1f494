#!/bin/sh
# A common mistake: the server without -server is a command.
zkCli.sh "$ZKHOST" </dev/null >/dev/null 2>&1
echo "status $?"
