#!/bin/bash
# A login that the server does not take: whoever asks whether it worked must hear that it did not.
umask 077
cat >jaas.conf <<'X'
Client {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  username="app"
  password="none";
};
X
export CLIENT_JVMFLAGS="-Djava.security.auth.login.config=$PWD/jaas.conf"
if zkCli.sh -server "$ZK" create /no/x y 2>&1; then echo made; else echo "refused: $?"; fi
printf 'create /no/x y\nget /no/x\n' | zkCli.sh -server "$ZK" 2>&1; echo "piped: $?"
echo 'create /no/x y' | zkCli.sh -server "$ZK" >/dev/null 2>&1; echo "piped alone: $?"
zkCli.sh -server "$ZK" sync / 2>&1 | tail -1
