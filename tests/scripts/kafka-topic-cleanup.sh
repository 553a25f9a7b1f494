#!/bin/bash
# Kafka topic cleanup, as scripts do it.
zookeeper-shell "$ZK" >/dev/null 2>&1 <<EOF
create /admin a
create /admin/delete_topics d
create /admin/delete_topics/old o
EOF
zookeeper-shell "$ZK" deleteall /admin/delete_topics/old >/dev/null 2>&1 && echo deleted
zookeeper-shell "$ZK" ls /admin/delete_topics 2>/dev/null | tail -1
