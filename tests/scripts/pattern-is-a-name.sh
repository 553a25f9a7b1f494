#!/bin/sh
# Pattern is a name, as scripts do it.
zkCli.sh -server "$ZK" create '/a*' star >/dev/null 2>&1
zkCli.sh -server "$ZK" create /ab plain >/dev/null 2>&1
zkCli.sh -server "$ZK" get '/a*' 2>/dev/null | tail -1
zkCli.sh -server "$ZK" delete '/a?' >/dev/null 2>&1; echo "status $?"
