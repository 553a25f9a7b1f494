#!/bin/bash
# Get multiline, as scripts do it.
zkCli.sh -server "$ZK" create /ini $'[main]\nkey = value\n' >/dev/null 2>&1
zkCli.sh -server "$ZK" get /ini 2>/dev/null | sed -n '/^\[main\]/,$p'
