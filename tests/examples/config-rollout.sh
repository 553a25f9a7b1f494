#!/bin/sh
# Rolls out a value: writes it if nobody else has changed the node meanwhile, and takes it back if the check fails.
# usage: config-rollout.sh NODE FILE CHECK [ARGUMENT…]
set -e
node=$1 file=$2; shift 2
old=$(mktemp); trap 'rm -f "$old"' EXIT
version=$(zksh stat "$node" | sed -n 's/^dataVersion = //p')
zksh -o plain get "$node" >"$old"
zksh set -v "$version" "$node" "@$file"
"$@" && exit
echo "$1 failed: $node gets its old value back" >&2
zksh set -v "$((version + 1))" "$node" "@$old"
exit 1
