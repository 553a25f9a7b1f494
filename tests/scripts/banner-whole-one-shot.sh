#!/bin/sh
zkCli.sh -server "$ZK" ls /
