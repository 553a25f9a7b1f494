#!/bin/bash
# A mutex of the poor: the node of a single command stays until the session's timeout.
zkCli.sh -server "$ZK" create -e /deploy-lock "$(hostname -s | head -c 0)me" > /dev/null 2>&1 && echo locked
zkCli.sh -server "$ZK" create -e /deploy-lock other > /dev/null 2>&1 || echo busy
zkCli.sh -server "$ZK" get /deploy-lock 2>/dev/null | tail -1
