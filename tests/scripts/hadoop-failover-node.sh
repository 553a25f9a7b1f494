#!/bin/bash
# Who is the active namenode? As Hadoop's runbooks ask it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /hadoop-ha ha
create /hadoop-ha/mycluster c
create /hadoop-ha/mycluster/ActiveBreadCrumb nn1.example.com
EOF
zookeeper-client -server "$ZK" get /hadoop-ha/mycluster/ActiveBreadCrumb 2>/dev/null | grep -o 'nn[0-9]'
zookeeper-client -server "$ZK" deleteall /hadoop-ha 2>/dev/null >&2; echo $?
