#!/bin/sh
# Several servers, as scripts do it.
zkCli.sh -server "127.0.0.1:1,$ZK" ls / 2>/dev/null | tail -1
