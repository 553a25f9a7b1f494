#!/bin/bash
# Options of create in any place.
zkCli.sh -server "$ZK" create -e -s /lock/n- x
echo $?
zkCli.sh -server "$ZK" create -es /n- x
echo $?
zkCli.sh -server "$ZK" create /n -s x
echo $?
zkCli.sh -server "$ZK" create /k x -e 
echo $?
zkCli.sh -server "$ZK" ls / | tail -1
