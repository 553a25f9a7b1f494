#!/bin/sh
# Runs a service on the machine that leads, and raises an alarm if leadership is lost while it runs.
# usage: leader.sh NODE ALARM PROGRAM [ARGUMENT…]
node=$1 alarm=$2; shift 2
exec zksh elect --on-lost term --on-lost "$alarm" "$node" "$(uname -n)" -- "$@"
