#!/bin/bash
# Tries to delete what everything depends on.
zkCli.sh -server "$ZK" delete /zookeeper
echo $?
zkCli.sh -server "$ZK" delete /
echo $?
zkCli.sh -server "$ZK" set / rootdata
zkCli.sh -server "$ZK" get / | tail -1
