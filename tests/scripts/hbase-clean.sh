#!/bin/bash
# As HBase's clean script: rmr of old, deleteall of new releases.
zkCli.sh -server "$ZK" create /hbase x >/dev/null 2>&1
zkCli.sh -server "$ZK" create /hbase/rs y >/dev/null 2>&1
zkCli.sh -server "$ZK" rmr /hbase >/dev/null 2>&1 || zkCli.sh -server "$ZK" deleteall /hbase >/dev/null 2>&1
zkCli.sh -server "$ZK" ls / 2>/dev/null | tail -1
