#!/bin/sh
echo 'ls /' | zkCli.sh -server "$ZK"
