#!/bin/sh
# Setacl recursive, as scripts do it.
zkCli.sh -server "$ZK" create /t 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" create /t/u 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" setAcl -R /t world:anyone:cdrw,ip:10.0.0.0/8:cdrwa >/dev/null 2>&1; echo $?
zkCli.sh -server "$ZK" getAcl /t/u 2>/dev/null | tail -4
