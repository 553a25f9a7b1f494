#!/bin/sh
# Help piped, as scripts do it.
echo help | zkCli.sh -server "$ZK" 2>&1 | sed -n '/^ZooKeeper -server/,$p' | head -3
