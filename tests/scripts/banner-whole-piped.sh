#!/bin/sh
# Banner whole piped, as scripts do it.
echo 'ls /' | zkCli.sh -server "$ZK"
