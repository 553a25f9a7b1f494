#!/bin/bash
# Health check: connected if the event of the session is there.
if echo "quit" | zkCli.sh -server "$ZK" 2>/dev/null | grep -q "WatchedEvent state:SyncConnected"; then
  echo healthy
else
  echo unhealthy
  exit 1
fi
