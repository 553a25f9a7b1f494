#!/bin/bash
# Environment jvmflags, as scripts do it.
export JVMFLAGS="-Xmx128m"
export CLIENT_JVMFLAGS="-Xms16m -Djava.net.preferIPv4Stack=true"
zkCli.sh -server "$ZK" create /j 1 2>&1 | tail -1
