#!/bin/sh
# Keeps a copy of a subtree on other servers, as long as it runs: after each change, and at least once a minute.
# usage: follow-copy.sh NODE OTHER-SERVERS [MOST-TIME-BETWEEN]
# No event tells of a changed ACL or quota: these follow within that time. Ephemerals are not copied.
# A dump that is cut short changes nothing: apply misses its last line.
while :; do
  zksh dump "$1" | zksh -s "$2" apply --prune --yes
  status=0
  zksh watch -R --count 1 --timeout "${3:-60s}" "$1" >/dev/null || status=$?
  # 124: the time is up. 3: no server answers, for which watch has waited; whoever keeps this running starts it
  # anew after anything else.
  case $status in 0 | 3 | 124) ;; *) exit "$status" ;; esac
done
