#!/bin/bash
# Addauth in script, as scripts do it.
zkCli.sh -server "$ZK" 2>&1 <<'EOF' | tail -n 4
addauth digest admin:secret
create /private p auth::cdrwa
getAcl /private
EOF
zkCli.sh -server "$ZK" get /private >/dev/null 2>&1; echo "status $?"
