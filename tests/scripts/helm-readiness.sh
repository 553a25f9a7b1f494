#!/bin/sh
# A readiness probe that writes and reads.
id=probe
zkCli.sh -server "$ZK" create /$id ok >/dev/null 2>&1
[ "$(zkCli.sh -server "$ZK" get /$id 2>/dev/null | tail -1)" = ok ] || exit 1
zkCli.sh -server "$ZK" delete /$id >/dev/null 2>&1 || exit 2
echo ready
