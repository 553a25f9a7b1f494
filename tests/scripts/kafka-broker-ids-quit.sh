#!/bin/sh
# Kafka broker ids quit, as scripts do it.
zkCli.sh -server "$ZK" create /brokers b >/dev/null 2>&1
zkCli.sh -server "$ZK" create /brokers/ids i >/dev/null 2>&1
zookeeper-shell.sh "$ZK" ls /brokers/ids quit 2>/dev/null | tail -1
