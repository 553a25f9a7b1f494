#!/bin/sh
# Lists the quotas of a subtree and their usage; the exit status is 1 if one is exceeded.
# usage: quota-report.sh NODE
zksh listquota -R "$1" || exit
exceeded=$(zksh listquota -R --exceeded "$1") || exit
[ -z "$exceeded" ]
