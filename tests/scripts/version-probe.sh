#!/bin/sh
zkCli.sh -server "$ZK" version 2>/dev/null | grep -o 'ZooKeeper CLI version: 3'
