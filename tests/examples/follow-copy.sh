#!/bin/sh
# Keeps a copy of a subtree on other servers, as long as it runs: after each change, and at least once a minute.
# usage: follow-copy.sh NODE OTHER-SERVERS [MOST-TIME-BETWEEN]
# No event tells of a changed ACL or quota: these follow within that time. Ephemerals are not copied.
while :; do
  zksh dump "$1" | zksh -s "$2" apply --prune --yes
  zksh watch -R --count 1 --timeout "${3:-60s}" "$1" >/dev/null
  status=$?
  [ $status = 0 ] || [ $status = 124 ] || sleep 5
done
