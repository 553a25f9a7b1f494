#!/bin/bash
# Ansible digest acl, as scripts do it.
set -e
zkCli.sh -server "$ZK" create /solr '' > /dev/null
zkCli.sh -server "$ZK" setAcl /solr world:anyone:rwcda > /dev/null
zkCli.sh -server "$ZK" getAcl /solr | awk '/anyone/ { getline; print $2 }'
