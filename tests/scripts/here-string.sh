#!/bin/bash
# Here string, as scripts do it.
zkCli.sh -server "$ZK" <<< "create /hs 1" 2>&1 | grep Created
r=$(zkCli.sh -server "$ZK" <<< "ls /" 2>/dev/null | tail -1)
[[ $r == "[hs]" ]] && echo same
