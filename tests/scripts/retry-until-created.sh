#!/bin/bash
# Retry until created, as scripts do it.
tries=0
until zkCli.sh -server "$ZK" create /test-word jimjams 2>&1 | grep -q '^Created /test-word'; do
  tries=$((tries + 1)); [ $tries -gt 5 ] && exit 1
done
until zkCli.sh -server "$ZK" get /test-word 2>&1 | grep -q '^jimjams'; do sleep 0.1; done
echo done
