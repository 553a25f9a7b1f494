#!/bin/bash
# A persistent watch in a here-document's place.
zkCli.sh -server "$ZK" create /rw x
(echo "addWatch -m PERSISTENT /rw"
echo "set /rw 1"
echo "create /rw/c x"
echo "removewatches /rw") | zkCli.sh -server "$ZK" 2>&1 | grep -E "Watched|remove"
