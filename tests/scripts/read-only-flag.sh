#!/bin/sh
# Read only flag, as scripts do it.
zkCli.sh -r -server "$ZK" create /ro 1 2>&1 | tail -1
