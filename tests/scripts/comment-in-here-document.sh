#!/bin/sh
# Comment in here document, as scripts do it.
zkCli.sh -server "$ZK" <<EOF 2>/dev/null
# first the root
create /a 1

create /a/b 2
# done
EOF
echo "status $?"
