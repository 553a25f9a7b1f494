#!/bin/bash
# An Ansible task as its shell runs it: the second run of a play must not fail.
for run in 1 2; do
  out=$(zkCli.sh -server "$ZK" create /chronos "chronos data" 2>&1)
  rc=$?
  if [ $rc -ne 0 ] && ! echo "$out" | grep -q "Node already exists"; then exit 1; fi
  echo "$out" | grep -q "Created" && echo "changed: [node1]" || echo "ok: [node1]"
done
