#!/bin/sh
# Data that begins with a dash is an option to zkCli.
zkCli.sh -server "$ZK" create /opts "-Xmx512m" 2>&1 | tail -1
echo "$?"
zkCli.sh -server "$ZK" create /n -5 >/dev/null 2>&1
echo "$?"
zkCli.sh -server "$ZK" create -- /n -5 >/dev/null 2>&1
echo "$?"
