#!/bin/sh
# Unreachable one shot, as scripts do it.
zkCli.sh -server 127.0.0.1:1 ls / 2>&1 | tail -1
zkCli.sh -server 127.0.0.1:1 ls / >/dev/null 2>&1 || echo "down ($?)"
