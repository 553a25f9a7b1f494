#!/bin/sh
# Banner whole one shot, as scripts do it.
zkCli.sh -server "$ZK" ls /
