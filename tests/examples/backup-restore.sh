#!/bin/sh
# Dumps a subtree to a file, restores it on other servers, and prints any differences that remain.
# usage: backup-restore.sh NODE FILE OTHER-SERVERS
set -e
zksh dump "$1" >"$2.new"
mv "$2.new" "$2"
zksh -s "$3" apply "$2"
zksh diff "$1" "$3$1"
