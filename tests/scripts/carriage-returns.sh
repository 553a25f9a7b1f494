#!/bin/sh
# A script written on Windows.
printf 'create /crlf 1\r\nget /crlf\r\n' | zkCli.sh -server "$ZK" 2>/dev/null | tail -1
