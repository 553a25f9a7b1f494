#!/bin/bash
# Without blanks a value needs no quotes; with them it is cut there.
zkCli.sh -server "$ZK" <<'EOF' 2>/dev/null | grep '^{'
create /a {"host":"db1","port":5432}
create /b {"host": "db1"}
create /c '{"host": "db1"}'
get /a
get /b
get /c
EOF
