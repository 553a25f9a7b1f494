#!/bin/sh
# Runs a service on the one machine that leads, and calls for help when the lead is lost while it runs.
# usage: leader.sh NODE ALARM PROGRAM [ARGUMENT…]
node=$1 alarm=$2; shift 2
exec zksh elect --on-lost term --on-lost "$alarm" "$node" "$(uname -n)" -- "$@"
