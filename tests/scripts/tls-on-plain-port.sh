#!/bin/bash
# A client that wants TLS, on a port without it: whoever asks whether it worked must hear that it did not.
export CLIENT_JVMFLAGS="-Dzookeeper.client.secure=true -Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty"
if zkCli.sh -server "$ZK" create /x y 2>&1; then echo made; else echo "refused: $?"; fi
printf 'create /x y\nls /\nquit\n' | zkCli.sh -server "$ZK" 2>&1; echo "piped: $?"
echo 'create /x y' | zkCli.sh -server "$ZK" >/dev/null 2>&1; echo "piped alone: $?"
zkCli.sh -waitforconnection -timeout 1000 -server "$ZK" </dev/null >/dev/null 2>&1; echo "awaited: $?"
