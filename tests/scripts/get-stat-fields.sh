#!/bin/bash
# Get stat fields, as scripts do it.
zkCli.sh -server "$ZK" create /n abc >/dev/null 2>&1
zkCli.sh -server "$ZK" set /n abcd
zkCli.sh -server "$ZK" get -s /n 2>/dev/null | awk -F' = ' '/dataVersion|dataLength|numChildren|ephemeralOwner/ {print $1 "=" $2}'
