#!/bin/sh
# Restarts services one machine at a time. If one does not come back, no others are restarted.
# usage: rolling-restart.sh NODE INSTANCE UNIT; INSTANCE is the ephemeral node that the running service keeps
[ "$ZKSH_LOCK_PATH" = "$1/lock" ] || exec zksh lock -q -w 30m "$1/lock" -- "$0" "$@"
zksh exists -q "$1/failed" && { echo "not restarted: see $1/failed" >&2; exit 1; }
[ $? = 1 ] || exit 3  # nobody said whether it is there
systemctl stop "$3" && zksh wait --gone -t "${PATIENCE:-2m}" "$2" &&
  systemctl start "$3" && zksh wait --exists -t "${PATIENCE:-2m}" "$2" && exit
status=$?
zksh create "$1/failed" "$(uname -n): $3"
exit "$status"
