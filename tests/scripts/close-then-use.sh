#!/bin/sh
# Close then use, as scripts do it.
printf 'ls /\nclose\nls /\n' | zkCli.sh -server "$ZK"
echo "status $?"
