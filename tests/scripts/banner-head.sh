#!/bin/sh
echo 'ls /' | zkCli.sh -server "$ZK" 2>/dev/null | head -n 3
