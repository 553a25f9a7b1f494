#!/bin/bash
# Numbers below zero look like options.
zkCli.sh -server "$ZK" create /neg -1
echo $?
zkCli.sh -server "$ZK" create /neg 0
zkCli.sh -server "$ZK" set /neg -5
echo $?
zkCli.sh -server "$ZK" set /neg -- -5
echo $?
zkCli.sh -server "$ZK" get /neg | tail -1
