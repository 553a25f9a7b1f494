#!/bin/sh
printf 'ls /\nclose\nls /\n' | zkCli.sh -server "$ZK"
echo "status $?"
