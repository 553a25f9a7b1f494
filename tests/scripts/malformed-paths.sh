#!/bin/bash
# Malformed paths are told apart by status.
zkCli.sh -server "$ZK" create /a/b/c x
echo $?
zkCli.sh -server "$ZK" create a x
echo $?
zkCli.sh -server "$ZK" create /a/ x
echo $?
zkCli.sh -server "$ZK" create //a x
echo $?
