#!/bin/sh
# Runs a job once an hour, on only one of the machines that have this line in their crontabs.
# usage: 0 * * * * cron-once.sh /cron/report /usr/local/bin/report [ARGUMENT…]
lock=$1; shift
exec zksh lock -q --once "${SLOT:-$(date +%Y-%m-%dT%H)}" "$lock" -- "$@"
