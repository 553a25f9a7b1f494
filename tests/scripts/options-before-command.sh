#!/bin/bash
# zkCli's options in several places.
zkCli.sh -server "$ZK" -r ls / | tail -1
zkCli.sh -server "$ZK" -waitforconnection ls / | tail -1
echo $?
