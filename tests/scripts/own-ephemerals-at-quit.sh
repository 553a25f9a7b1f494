#!/bin/bash
# The session's end removes its ephemerals, whose watches fire before it is reported.
printf 'create /e 1\ncreate -e /e/n x\nget -w /e/n\nls -w /e\nquit\n' | zkCli.sh -server "$ZK" 2>&1
printf 'create /f 1\ncreate -e /f/n x\naddWatch /f\nclose\nls /\n' | zkCli.sh -server "$ZK" 2>&1
