#!/bin/sh
# Waitforconnection, as scripts do it.
zkCli.sh -waitforconnection -timeout 10000 -server "$ZK" ls / 2>/dev/null | tail -1
