#!/bin/bash
# Solr collections, as scripts do it.
zkCli.sh -server "$ZK" >/dev/null 2>&1 <<EOF
create /solr s
create /solr/collections c
create /solr/collections/books '{"configName":"_default"}'
create /solr/live_nodes n
EOF
zkCli.sh -server "$ZK" ls /solr/collections 2>/dev/null | grep -oP '(?<=\[).*(?=\])'
zkCli.sh -server "$ZK" get /solr/collections/books 2>/dev/null | grep -oP '"configName":"\K[^"]+'
