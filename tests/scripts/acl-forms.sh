#!/bin/bash
# ACLs of every form, right and wrong.
zkCli.sh -server "$ZK" setAcl /zookeeper/x world:anyone:r
echo $?
zkCli.sh -server "$ZK" create /ac x
zkCli.sh -server "$ZK" setAcl /ac ip:127.0.0.1:cdrwa,world:anyone:r
zkCli.sh -server "$ZK" getAcl /ac
zkCli.sh -server "$ZK" setAcl /ac foo
echo $?
zkCli.sh -server "$ZK" setAcl /ac world:anyone:xyz
echo $?
zkCli.sh -server "$ZK" setAcl -s /ac world:anyone:cdrwa | grep acl
zkCli.sh -server "$ZK" getAcl -s /ac | tail -3
