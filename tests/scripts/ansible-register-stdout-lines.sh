#!/bin/bash
# `register: result`, then result.stdout_lines[-1].
zkCli.sh -server "$ZK" create /apps app >/dev/null 2>&1
zkCli.sh -server "$ZK" create /apps/one 1 >/dev/null 2>&1
zkCli.sh -server "$ZK" create /apps/two 2 >/dev/null 2>&1
mapfile -t lines < <(zkCli.sh -server "$ZK" ls /apps 2>/dev/null)
echo "${lines[-1]}"
echo "${#lines[@]} lines"
