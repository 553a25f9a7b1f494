#!/bin/sh
zookeeper-shell >/dev/null 2>&1
echo "status $?"
