#!/bin/bash
# Kafka's script, with and without a command.
zookeeper-shell.sh "$ZK" get /nope 2>&1 | grep -v "^$"
echo ${PIPESTATUS[0]}
zookeeper-shell "$ZK" <<< "ls /" | tail -1
zookeeper-shell.sh "$ZK" create /brokers x
zookeeper-shell.sh "$ZK" ls /brokers
echo $?
