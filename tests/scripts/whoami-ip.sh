#!/bin/sh
# Whoami ip, as scripts do it.
zkCli.sh -server "$ZK" whoami 2>/dev/null | grep -o 'ip: 127.0.0.1'
