#!/bin/sh
# Version probe, as scripts do it.
zkCli.sh -server "$ZK" version 2>/dev/null | grep -o 'ZooKeeper CLI version: 3'
