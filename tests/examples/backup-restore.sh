#!/bin/sh
# Keeps a subtree in a file, makes it the same on other servers, and says what differs there afterwards.
# usage: backup-restore.sh NODE FILE OTHER-SERVERS
set -e
zksh dump "$1" >"$2.new"
mv "$2.new" "$2"
zksh -s "$3" apply "$2"
zksh diff "$1" "$3$1"
