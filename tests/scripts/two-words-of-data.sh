#!/bin/bash
# Data of two unquoted words.
zkCli.sh -server "$ZK" create /t "hello world"
zkCli.sh -server "$ZK" set /t hello world
echo $?
zkCli.sh -server "$ZK" get /t | tail -1
