#!/bin/sh
zkCli.sh -server "$ZK" sync / 2>/dev/null | tail -1
