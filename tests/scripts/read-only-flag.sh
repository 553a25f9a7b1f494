#!/bin/sh
zkCli.sh -r -server "$ZK" create /ro 1 2>&1 | tail -1
