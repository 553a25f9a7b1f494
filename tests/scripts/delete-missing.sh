#!/bin/sh
# Delete missing, as scripts do it.
zkCli.sh -server "$ZK" delete /nowhere 2>/dev/null
echo "status $?"
echo 'delete /nowhere' | zkCli.sh -server "$ZK" 2>&1 | grep -c 'does not exist'
