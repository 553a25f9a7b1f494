#!/bin/bash
# Kafka shell here string, as scripts do it.
zookeeper-shell.sh "$ZK" <<< "create /controller {\"brokerid\":1}" >/dev/null 2>&1
zookeeper-shell.sh "$ZK" <<< "get /controller" 2>/dev/null | tail -1 | grep -o '[0-9]*'
