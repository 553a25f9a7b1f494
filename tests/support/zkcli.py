#!/usr/bin/python3
"""Runs a real zkCli in place of zksh, to record what it prints:

    ZKSH=tests/support/zkcli.py ZOOKEEPER_HOME=$(tests/support/fetch_servers.py 3.9.3) \\
        tests/transcripts/run.py --update tests/transcripts/zkcli/3.9.txt

Called as `zkcli.py -server HOST:PORT --zkcli 3.9`. Leaves out what zksh never prints: zkCli's greeting, the events
of the connection, and Java's stack traces.
"""
import os
import re
import subprocess
import sys
import tempfile
import threading

import fetch_servers

VERSIONS = {"3.4": "3.4.13", "3.8": "3.8.0", "3.9": "3.9.3"}
CONNECTION = re.compile(rb"\nWATCHER::\n\nWatchedEvent state:(SyncConnected|Closed) type:None path:null[^\n]*\n")
GREETING = re.compile(rb"(?m)^(Connecting to .*|Welcome to ZooKeeper!|JLine support is (dis|en)abled)\n")
TRACE = re.compile(rb"(?m)^(\tat .*|\t\.\.\. \d+ more|SLF4J: .*)\n")


def java(version):
    """A client of 3.4 cannot read the addresses of Java 14 and later (ZOOKEEPER-3779): its release has Java 11."""
    if version != "3.4.13":
        return "java"
    home = fetch_servers.cache() / "java-11"
    program = home / "usr/lib/jvm/java-11-openjdk-amd64/bin/java"
    if not program.exists():
        with tempfile.TemporaryDirectory() as directory:
            apt = fetch_servers.Apt(directory, fetch_servers.RELEASES[version])
            apt.unpack(["openjdk-11-jre-headless"], home)
        for link in home.rglob("*"):  # its configuration
            if link.is_symlink() and os.readlink(link).startswith("/etc/"):
                target = f"{home}{os.readlink(link)}"
                link.unlink()
                link.symlink_to(target)
    return str(program)


def main():
    server = sys.argv[sys.argv.index("-server") + 1]
    version = VERSIONS[sys.argv[sys.argv.index("--zkcli") + 1]]
    jars = [str(jar) for jar in (fetch_servers.fetch(version) / "lib").glob("*.jar") if "jline" not in jar.name]
    zkcli = subprocess.Popen(
        [java(version), "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", ":".join(jars),
         "org.apache.zookeeper.ZooKeeperMain", "-server", server],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    errors = []
    reader = threading.Thread(target=lambda: errors.append(zkcli.stderr.read()))
    reader.start()
    output = b""
    while not CONNECTION.search(output):  # 3.4 does not wait for the connection
        output += os.read(zkcli.stdout.fileno(), 1 << 16) or sys.exit("zkCli did not connect")
    zkcli.stdin.write(sys.stdin.buffer.read())
    zkcli.stdin.close()
    output += zkcli.stdout.read()
    reader.join()
    sys.stdout.buffer.write(GREETING.sub(b"", CONNECTION.sub(b"", output)))
    sys.stderr.buffer.write(TRACE.sub(b"", errors[0]))
    return zkcli.wait()


if __name__ == "__main__":
    sys.exit(main())
