#!/bin/bash
# Run by bash, as scripts do it.
cli=$(command -v zkCli.sh)
bash "$cli" -server "$ZK" create /b 1 2>&1 | tail -1
bash "$cli" -server "$ZK" ls / 2>/dev/null | tail -1
