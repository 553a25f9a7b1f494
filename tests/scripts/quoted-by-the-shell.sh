#!/bin/bash
# One word for a command and its arguments; paths with blanks.
zkCli.sh -server "$ZK" "create /quoted x"
echo $?
zkCli.sh -server "$ZK" 'ls' '/' | tail -1
zkCli.sh -server "$ZK" get "/a b"
echo $?
zkCli.sh -server "$ZK" create "/a b" x
echo "ls /" | zkCli.sh -server "$ZK" | tail -1
