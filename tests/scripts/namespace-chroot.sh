#!/bin/sh
# Namespace chroot, as scripts do it.
zkCli.sh -server "$ZK" create /ns 1 >/dev/null 2>&1
zkCli.sh -server "$ZK/ns" create /inner 2 2>&1 | tail -1
zkCli.sh -server "$ZK" ls /ns 2>/dev/null | tail -1
