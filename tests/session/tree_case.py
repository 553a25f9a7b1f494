"""Shared by the tests of large trees: trees with known paths, and commands that take a while."""
import collections
import re
import struct

from session_case import SessionTest
from znodes import EXISTS, pack_string

# As `ended` gives it: without what differs from run to run.
RECONNECTED = ("TIME connection lost (SERVER); reconnecting\n"
               "TIME reconnected to SERVER after TIME, same session\n")


def filled_paths(count, depth, top="/tree"):
    """What `fill` makes: level after level, as many children for each node as the levels need."""
    width = 1
    while sum(width ** level for level in range(1, depth + 1)) < count:
        width += 1
    paths = [top]
    for number in range(1, count + 1):
        paths.append(f"{paths[(number - 1) // width]}/n{(number - 1) % width:07}")
    return paths


def in_order_of_ls(paths):
    """A node's children, then the subtree of each."""
    below = collections.defaultdict(list)
    for path in paths[1:]:
        below[path.rpartition("/")[0]].append(path)

    def subtree(path):
        yield from below[path]
        for child in below[path]:
            yield from subtree(child)

    return [paths[0], *subtree(paths[0])]


class TreeTest(SessionTest):
    def restart(self, process):
        """Restarts the server while a process runs."""
        self.server.kill()
        self.assertIsNone(process.poll(), "it ended before the server did")
        self.server.start()
        self.connect_znodes()

    def numbers(self, text, pattern):
        self.assertRegex(text, pattern)
        return map(int, re.search(pattern, text).groups())

    def fill(self, count, depth, top="/tree"):
        self.assertEqual(self.run_zksh("fill", "-n", str(count), "-d", str(depth), top),
                         (0, f"{count} nodes created below {top}\n", ""))
        return filled_paths(count, depth, top)

    def listed(self, path="/"):
        status, out, err = self.run_zksh("ls", "-R", path)
        self.assertEqual((status, err), (0, ""))
        return out.splitlines()

    def stat_number(self, path, offset):
        path = self.root + path
        stat = self.znodes._call(EXISTS, path, pack_string(path) + b"\0")
        return struct.unpack_from(">i", stat, offset)[0]

    def acl_version(self, path):
        return self.stat_number(path, 40)

    def number_of_children(self, path):
        return self.stat_number(path, 56)

    def lasting(self, *arguments, rate=4000, **how):
        """It takes five seconds for 20 000 nodes; so long a session outlasts a server that starts slowly."""
        return self.start("-t", "60000", *arguments, "--rate", str(rate), **how)

    def slow(self, *arguments, rate=500, **how):
        """It takes 24 seconds for 12 000 nodes."""
        return self.start("-t", "2000", *arguments, "--rate", str(rate), **how)

    def ended(self, process, text=b""):
        """Status, the rest of stdout after `text`, and stderr."""
        out, err = process.communicate(timeout=90)
        news = err.decode().replace(self.server.address, "SERVER")
        news = re.sub(r"(?m)^\d\d:\d\d:\d\d ", "TIME ", news)
        news = re.sub(r"after \S+, same session", "after TIME, same session", news)
        return process.returncode, (text + (out or b"")).decode(), news
