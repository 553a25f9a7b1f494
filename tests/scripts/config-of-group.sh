#!/bin/sh
zkCli.sh -server "$ZK" config 2>&1 | tail -1
echo $?
