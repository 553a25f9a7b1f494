#!/bin/bash
# A persistent watch in a here-document's place.
zkCli.sh -server "$ZK" create /rw x
(echo "addWatch -m PERSISTENT /rw"
sleep 1
echo "set /rw 1"
echo "create /rw/c x"
sleep 0.5
echo "removewatches /rw"
sleep 0.5 ) | zkCli.sh -server "$ZK" 2>&1 | grep -E "Watched|remove"
