#!/bin/sh
zkCli.sh -server "$ZK" whoami 2>/dev/null | grep -o 'ip: 127.0.0.1'
