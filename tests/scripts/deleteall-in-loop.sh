#!/bin/bash
# Deleteall in loop, as scripts do it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /brokers b
create /brokers/topics t
create /brokers/topics/one 1
create /brokers/topics/one/partitions p
create /brokers/topics/two 2
EOF
topics=$(zkCli.sh -server "$ZK" ls /brokers/topics 2>/dev/null | tail -1 | tr -d '[],')
for topic in $topics; do
  zkCli.sh -server "$ZK" deleteall "/brokers/topics/$topic" >/dev/null 2>&1
  echo "deleted $topic: $?"
done
