#!/bin/sh
# Restarts this machine's service while no other machine restarts its own; once one did not come back, no more are.
# usage: rolling-restart.sh NODE INSTANCE UNIT; INSTANCE is the ephemeral by which the service says that it serves
[ "$ZKSH_LOCK_PATH" = "$1/lock" ] || exec zksh lock -q -w 30m "$1/lock" -- "$0" "$@"
zksh exists -q "$1/failed" && { echo "not restarted: see $1/failed" >&2; exit 1; }
[ $? = 1 ] || exit 3  # nobody said whether it is there
systemctl stop "$3" && zksh wait --gone -t "${PATIENCE:-2m}" "$2" &&
  systemctl start "$3" && zksh wait --exists -t "${PATIENCE:-2m}" "$2" && exit
status=$?
zksh create "$1/failed" "$(uname -n): $3"
exit "$status"
