#!/bin/sh
echo 'ls /' | zkCli.sh -server "$ZK" -timeout 2>&1 | tail -1
