#!/usr/bin/python3
"""Writes down what the scripts do with the real zkCli of Debian (packages zookeeper, libslf4j-java).

    tests/scripts/record.py [NAME…]
"""
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from runner import Runner, here, install_real, names
from server import Server


def record(runner, name):
    with open(os.path.join(here, name + ".expected"), "w", encoding="utf-8") as file:
        file.write(runner.run(name))
    print(name, flush=True)


def main():
    with Server({"enforceQuota": "false"}) as server, tempfile.TemporaryDirectory() as directory:
        runner = Runner(server.address, install_real(directory))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda name: record(runner, name), sys.argv[1:] or names()))


if __name__ == "__main__":
    main()
