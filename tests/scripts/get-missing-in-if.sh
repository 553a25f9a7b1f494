#!/bin/bash
# Get missing in if, as scripts do it.
if zkCli.sh -server "$ZK" get /missing >/dev/null 2>err; then echo found; else echo "missing ($?)"; fi
grep -v SLF4J err
