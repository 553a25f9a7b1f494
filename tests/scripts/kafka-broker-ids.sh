#!/bin/bash
# Kafka broker ids, as scripts do it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /brokers b
create /brokers/ids i
create /brokers/ids/0 {"host":"kafka0"}
create /brokers/ids/1 {"host":"kafka1"}
EOF
ids=$(zookeeper-shell "$ZK" ls /brokers/ids 2>/dev/null | tail -n 1 | sed 's/[][,]//g')
for id in $ids; do
  zookeeper-shell "$ZK" get "/brokers/ids/$id" 2>/dev/null | grep -o '"host":"[^"]*"'
done
