#!/bin/sh
# Config of group, as scripts do it.
zkCli.sh -server "$ZK" config 2>&1 | tail -1
echo $?
