"""txns --check says of files what a server does that starts on a copy of them, in the server's own words."""
import gzip
import json
import os
import pathlib
import struct
import unittest

from session_case import SessionTest
from server import Server, four_letter_word, free_port, judged_release, server_version
from txnlog_files import (CHECK, CREATE_CONTAINER, LOG_HEADER, MULTI, SET, SET_ACL, OPEN_ACL, body, create, delete, log, node, record, seal, set_data,
                          snapshot, text)
from waiting import wait_until

SNAPSHOT = snapshot(node("/a"))
BODIES = [create(1, "/a"), set_data(2, "/a"), set_data(3, "/a", version=2), create(4, "/b")]
SOUND = {"snapshot.2": SNAPSHOT, "log.1": log(*BODIES)}
NO_ACL = snapshot(node("/a", acl=9), node("/a/c"), node("/z"))
LONG = 0xfffff
STRANGE = LOG_HEADER.replace(b"ZKLG", b"XXXX")


def flipped(content, at):
    changed = bytearray(content)
    changed[at] ^= 1
    return bytes(changed)


def long_record(length):
    return set_data(3, "/a", "v" * (length - len(set_data(3, "/a", ""))), 2)


def after_two(*rest, **how):
    """The first of two transactions that a snapshot has, and others."""
    return {"snapshot.2": SNAPSHOT, "log.1": log(*BODIES[:2], *rest, **how)}


# Name → files, whether anything is wrong, and words of the finding (those of a server, if it ends).
CASES = {
    "sound": (SOUND, 0, ""),
    "another version in the header": ({**SOUND, "log.1": log(*BODIES, header=b"ZKLG" + struct.pack(">iq", 7, 9))}, 0, ""),
    "an empty last log": ({**SOUND, "log.5": b""}, 1, "EOFException"),
    "a last log of four bytes": ({**SOUND, "log.5": b"ZKLG"}, 1, "EOFException"),
    "a last log of zeros": ({**SOUND, "log.5": bytes(1024)}, 1, "invalid magic number"),
    "an empty log between": ({**SOUND, "log.5": b"", "log.6": log(set_data(6, "/a"))}, 1, "without them 0x5 is missing"),
    "a log of zeros between": ({**SOUND, "log.5": bytes(1024), "log.8": log(set_data(8, "/a"))}, 1, "without them 0x5 to 0x7 are missing"),
    "a damaged header": ({**SOUND, "log.1": log(*BODIES, header=STRANGE)}, 1, "0x1 to 0x4 (4 transactions can be read) would be missing"),
    "a damaged header in a log that is not read": (
        {"snapshot.4": SNAPSHOT, "log.1": log(*BODIES[:3], header=STRANGE), "log.4": log(BODIES[3])}, 1, "servers do not read this log"),
    "a wrong checksum before the snapshot": ({**SOUND, "log.1": flipped(log(*BODIES), 80)}, 1, "CRC check failed"),
    "a wrong checksum after it": ({**SOUND, "log.1": flipped(log(*BODIES), log(*BODIES).index(b"/b"))}, 1, "CRC check failed"),
    "a wrong checksum in a log that is not read": (
        {"snapshot.4": SNAPSHOT, "log.1": flipped(log(*BODIES[:3]), 80), "log.4": log(BODIES[3])}, 1, "servers do not read this log"),
    "no end mark": ({**after_two((record(BODIES[2], b"X"),), BODIES[3]), "log.5": log(set_data(5, "/a"))}, 1,
                    "read no further in this log, and say nothing: 0x3 to 0x4 (1 transaction can be read)"),
    "a torn last record": (after_two((record(BODIES[2])[:-9],)), 0, "harmless: "),
    "a copy cut off in a record": (after_two((record(BODIES[2])[:-9],), zeros=0), 1, "truncated copy"),
    "a copy cut off in its length": (after_two((record(BODIES[2])[4:8] * 2,), zeros=0), 1, "truncated copy"),
    "a length that cannot be": (after_two((struct.pack(">qi", 7, 0x7fffffff) + bytes(40),), BODIES[3]), 1, "Unreasonable length = 2147483647"),
    "a negative length": (after_two((struct.pack(">qi", 7, -5) + bytes(40),), BODIES[3]), 1, "Unreasonable length = -5"),
    "a length of -1": (after_two((struct.pack(">qi", 7, -1) + bytes(40),), BODIES[3]), 1, "NullPointerException"),
    "a length beyond the end": (after_two((struct.pack(">qi", 7, 2 * LONG) + b"x" * 40,), BODIES[3]), 1, "an impossible length"),
    "a hole": (after_two((bytes(400),), BODIES[3]), 1, "zeros before more data"),
    "a record as long as 3.4 takes": (after_two(long_record(LONG + 1024), BODIES[3]), 0, ""),
    "a record as long as 3.8 takes": (after_two(long_record(2 * LONG), BODIES[3]), 1, "-Djute.maxbuffer=2097150"),
    "a longer record": (after_two(long_record(2 * LONG + 1), BODIES[3]), 1, "Unreasonable length = 2097151"),
    "a value of 3 MiB": ({**SOUND, "snapshot.4": snapshot(node("/a", "v" * (3 << 20)))}, 1, "Unreasonable length = 3145728"),
    "a value of 3 MiB and nothing older": ({"snapshot.4": snapshot(node("/a", "v" * (3 << 20)))}, 1, "Unreasonable length = 3145728"),
    "contents that end early": (after_two(body(3, SET, text("/a")), BODIES[3]), 1, "contents are incomplete"),
    "contents with a negative length": (after_two(body(3, SET, text("/a") + struct.pack(">i", -7)), BODIES[3]), 1, "Unreasonable length = -7"),
    "an unknown type": (after_two(body(3, 99, b"abcd"), BODIES[3]), 1, "Unsupported Txn with type="),
    "a part of a multi that is malformed": (after_two(body(3, MULTI, struct.pack(">ii", 1, SET) + text(text("/a")))), 1, "a multi with a part"),
    "a container": (after_two(create(3, "/c", kind=CREATE_CONTAINER)), 0, ""),
    "a path without a slash": (after_two(create(3, "abc")), 1, "StringIndexOutOfBoundsException"),
    "the limits of a quota of the root": (after_two(create(3, "/zookeeper/quota/zookeeper_limits")), 1, "IllegalArgumentException"),
    "a snapshot with them": ({**SOUND, "snapshot.2": snapshot(node("/a"), node("/zookeeper/quota/zookeeper_limits"))}, 1, "IllegalArgumentException"),
    "limits above the quotas": (after_two(create(3, "/zookeeper/zookeeper_limits"), delete(4, "/zookeeper/zookeeper_limits")), 1,
                                "StringIndexOutOfBoundsException"),
    "limits beside the quotas": (after_two(create(3, "/zookeeper/quotas"), create(4, "/zookeeper/quotas/zookeeper_limits")), None, ""),
    "limits of a quota": (after_two(create(3, "/zookeeper/quota/a"), create(4, "/zookeeper/quota/a/zookeeper_limits")), 0, ""),
    "no readable snapshot": ({**SOUND, "snapshot.2": snapshot(node("/a"), wrong=1)}, 1, "Not able to find valid snapshots"),
    "an older snapshot": ({**SOUND, "snapshot.3": snapshot(node("/a"), wrong=1)}, 1, "a wrong checksum"),
    "a snapshot that is cut off": ({**SOUND, "snapshot.2": SNAPSHOT[:-3]}, 1, "No snapshot found, but there are log entries"),
    "such a snapshot, and nothing else": ({"snapshot.2": SNAPSHOT[:-3]}, 1, "start with an empty tree"),
    "logs that contradict each other": ({**SOUND, "log.3": log(set_data(3, "/a", "other", 2), create(4, "/c"))}, 1, "tell different things of 0x3"),
    "no snapshot": ({"log.1": log(*BODIES)}, 1, "No snapshot found, but there are log entries"),
    "a container and no snapshot": ({"log.1": log(BODIES[0], create(2, "/c", kind=CREATE_CONTAINER))}, 1, "start it once with -D"),
    "a node without its parent": ({**SOUND, "snapshot.2": snapshot(node("/a"), node("/x/y"))}, 1, "unable to find parent /x of path /x/y"),
    "an ACL that is in no list": ({"snapshot.2": NO_ACL, "log.3": log(set_data(3, "/z"))}, 1, "Failed to fetch acls for 9"),
    "a change of such a node": ({"snapshot.2": NO_ACL, "log.3": log(set_data(3, "/a"))}, 1, "Failed to fetch acls for 9"),
    "a node below it": ({"snapshot.2": NO_ACL, "log.3": log(create(3, "/a/d"))}, 1, "Failed to fetch acls for 9"),
    "its deletion": ({"snapshot.2": NO_ACL, "log.3": log(delete(3, "/a/c"), delete(4, "/a"))}, 1, "Failed to fetch acls for 9"),
    "its ACL set": ({"snapshot.2": NO_ACL, "log.3": log(body(3, SET_ACL, text("/a") + OPEN_ACL + struct.pack(">i", 1)))}, 0, ""),
    "an empty ACL": ({"snapshot.2": snapshot(node("/a", acl=1), acls=[(1, struct.pack(">i", 0))]), "log.1": log(*BODIES)}, 0, ""),
    "a snapshot under the name of a packed one": ({"snapshot.2.gz": SNAPSHOT, "log.1": log(*BODIES)}, 1, "No snapshot found"),
    "a packed one under that of a plain one": ({"snapshot.2": gzip.compress(SNAPSHOT), "log.1": log(*BODIES)}, 1, "No snapshot found"),
    "a file beside the logs": ({**SOUND, "log.x": b"junk"}, 0, "harmless: "),
    "a log with an ending": ({**SOUND, "log.4.bak": b"junk"}, 1, "servers take this for log.4"),
    "a packed log": ({**SOUND, "log.5.gz": gzip.compress(log(create(5, "/n")))}, 1, "gunzip it"),
    "a gap": ({**SOUND, "log.9": log(set_data(9, "/a"))}, 1, "transactions are missing"),
    "all of it twice": ({**SOUND, "log.1": log(*BODIES, *BODIES)}, 0, "written more than once"),
    "some of it twice": ({**SOUND, "log.1": log(*BODIES, *BODIES[:2], create(5, "/n"))}, 1, "out of order"),
    "a name that hides transactions": ({**SOUND, "log.1": log(*BODIES[:3]), "log.2": log(BODIES[3])}, 1, "servers pass over transactions"),
    "a packed snapshot without its end": ({"snapshot.2.gz": gzip.compress(SNAPSHOT)[:-5], "log.1": log(*BODIES)}, 0, ""),
    "a packed snapshot cut in its nodes": ({"snapshot.2.gz": gzip.compress(SNAPSHOT)[:-30], "log.1": log(*BODIES)}, 1,
                                           "Not able to find valid snapshots"),
    "a packed snapshot cut in its digest": ({"snapshot.2.gz": gzip.compress(SNAPSHOT + bytes(9)), "log.1": log(*BODIES)}, 0, ""),
    "a last zxid without a digest": ({"snapshot.2": seal(SNAPSHOT + struct.pack(">q", 2)), "log.1": log(*BODIES)}, 1,
                                     "zookeeper.digest.enabled=false"),
    "an ACL that is null": ({"snapshot.0": snapshot(), "snapshot.2": snapshot(acls=[(1, struct.pack(">i", -1))]), "log.1": log(*BODIES)}, 1,
                            "without this file, servers take an older snapshot"),
    "another version of a snapshot": ({**SOUND, "snapshot.2": seal(SNAPSHOT[:4] + struct.pack(">i", 3) + SNAPSHOT[8:-13])}, 0, ""),
    "a check alone": (after_two(body(3, CHECK, text("/a") + struct.pack(">i", 1)), BODIES[3]), 1, "Unsupported Txn with type="),
    "a name too late": ({**SOUND, "log.1": b"", "log.3": log(*BODIES)}, None, ""),
    "no quota": ({"snapshot.2": seal(b"ZKSN" + struct.pack(">iqii", 2, -1, 0, 0) + node("", "") + text("/")), "log.1": log(*BODIES)}, 0, ""),
}
# Older servers know no packed snapshots, no endings of names and no containers.
SINCE_3_5 = {"a container", "a container and no snapshot", "a snapshot under the name of a packed one", "a packed one under that of a plain one",
             "a log with an ending", "a packed log", "a packed snapshot without its end", "a packed snapshot cut in its nodes",
             "a packed snapshot cut in its digest", "a last zxid without a digest"}


class FileCheck(SessionTest):
    def serve(self, files):
        """Servers on their own copies of the files, by name; what became of each: None if it serves, else its log."""
        servers = {}
        for name, contents in files.items():
            server = Server()
            server.directory = self.file("server " + name.replace("/", " "))
            place = server.directory + "/data/version-2"
            os.makedirs(place)
            for file, content in contents.items():
                with open(f"{place}/{file}", "wb") as out:
                    out.write(content)
            server.port = free_port()
            server._spawn()  # pylint: disable=protected-access
            self.addCleanup(server.kill)
            servers[name] = server
        ends = {}
        for name, server in servers.items():
            wait_until(lambda server=server: server.process.poll() is not None or "Mode: " in four_letter_word(server.port, "srvr"), 120)
            ends[name] = None if server.process.poll() is None else pathlib.Path(server.directory, "log").read_text("utf-8", "replace")
            server.kill()
        return ends

    def check(self, files, name):
        place = self.file("check " + name.replace("/", " "))
        os.makedirs(place + "/version-2")
        for file, content in files.items():
            with open(f"{place}/version-2/{file}", "wb") as out:
                out.write(content)
        status, out, err = self.run_zksh("txns", "--in", place, "--check", server="127.0.0.1:1")
        self.assertEqual(err, "", name)
        again, lines, _ = self.run_zksh("txns", "--in", place, "--check", "-o", "json", server="127.0.0.1:1")
        self.assertEqual(status, again, name)
        return status, out, json.loads(lines.splitlines()[-1])

    def test_as_a_server_says(self):
        names = [name for name in CASES if server_version() >= (3, 5) or name not in SINCE_3_5]
        for at in range(0, len(names), 4):
            batch = names[at:at + 4]
            ends = self.serve({name: CASES[name][0] for name in batch})
            for name in batch:
                with self.subTest(name):
                    files, wrong, words = CASES[name]
                    status, out, verdict = self.check(files, name)
                    self.assertEqual(judged_release() in verdict["versions"], ends[name] is None, f"{out}\n{ends[name]}")
                    if wrong is not None:
                        self.assertEqual(status, wrong, out)
                    self.assertIn(words, out)

    def test_what_is_read_behind_a_damaged_header(self):
        place = self.file("log.1", "")
        with open(place, "wb") as out:
            out.write(log(*BODIES, header=STRANGE))
        status, out, err = self.run_zksh("txns", "--in", place, "-o", "plain", server="127.0.0.1:1")
        self.assertEqual((status, len(out.splitlines())), (1, 4))
        self.assertIn("the header is damaged", err)


if __name__ == "__main__":
    unittest.main()
