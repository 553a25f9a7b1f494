#!/bin/sh
# Results on stdout, errors and `Created` on stderr.
zkCli.sh -server "$ZK" create /ts 1 >out 2>err; cat out | tail -1; grep -v SLF4J err
zkCli.sh -server "$ZK" create /ts 1 >out 2>err; echo $?; grep -v SLF4J err
