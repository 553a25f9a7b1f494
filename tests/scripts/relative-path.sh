#!/bin/sh
# Relative path, as scripts do it.
zkCli.sh -server "$ZK" get foo 2>&1 | tail -1
zkCli.sh -server "$ZK" ls /foo/ 2>&1 | tail -1
