#!/bin/bash
# As a check whether the server is up, with -timeout as its limit.
check() { zkCli.sh -waitforconnection -timeout "$1" -server localhost:1 "${@:2}" </dev/null 2>error; echo "status $?"; head -1 error; }
check 500 ls /
check 500
check 500 version
SECONDS=0
check 12000 >/dev/null
[ $SECONDS -ge 11 ] && echo "waited as long as that"
