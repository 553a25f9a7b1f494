#!/bin/sh
# Create with acl, as scripts do it.
zkCli.sh -server "$ZK" create /secret hush world:anyone:r 2>&1 | tail -1
zkCli.sh -server "$ZK" set /secret loud 2>&1 | tail -1
zkCli.sh -server "$ZK" getAcl /secret 2>/dev/null | tail -2
