#!/bin/sh
# Writes a new value if nobody else has changed the node meanwhile, and restores the old one if the check fails.
# usage: config-rollout.sh NODE FILE CHECK [ARGUMENT…]
set -e
node=$1 file=$2; shift 2
old=$(mktemp); trap 'rm -f "$old"' EXIT
version=$(zksh stat "$node" | sed -n 's/^dataVersion = //p')
zksh -o plain get "$node" >"$old"
zksh set -v "$version" "$node" "@$file"
"$@" && exit
echo "$1 failed; restoring the old value of $node" >&2
zksh set -v "$((version + 1))" "$node" "@$old"
exit 1
