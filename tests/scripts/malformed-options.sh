#!/bin/bash
# Servers, timeouts and files that cannot be used, by their statuses.
try() { echo ls / | zkCli.sh "$@" >/dev/null 2>&1; piped=$?; zkCli.sh "$@" ls / >/dev/null 2>&1; echo "$?, piped $piped"; }
try -server 127.0.0.1:port
try -server 127.0.0.1:70000
try -server "$ZK/a//b"
try -server ''
try -server "$ZK" -timeout abc
try -server "$ZK" -timeout 0
try -server "$ZK" -client-configuration /nonexistent
