#!/usr/bin/python3
"""Lists or removes a tree as usual with kazoo: one request after another."""
import sys

from kazoo.client import KazooClient


def walk(client, path):
    """The node, then all below it."""
    yield path
    for name in sorted(client.get_children(path)):
        yield from walk(client, f"{path}/{name}")


def main():
    address, what, top = sys.argv[1:]
    client = KazooClient(hosts=address)
    client.start()
    if what == "list":
        for path in walk(client, top):
            print(path)
    else:
        client.delete(top, recursive=True)
    client.stop()


main()
