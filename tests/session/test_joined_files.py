"""Files from several directories: a server's dataDir and dataLogDir, and those of several members of an ensemble."""
import json
import os
import pathlib
import shutil
import unittest

from session_case import SessionTest
from server import Server, four_letter_word, free_port, judged_release
from txnlog_files import create, log, node, set_data, snapshot
from waiting import wait_until


class JoinedFiles(SessionTest):
    def write(self, place, files):
        """A directory with these files in its version-2."""
        directory = self.file(place)
        os.makedirs(directory + "/version-2")
        for name, content in files.items():
            with open(f"{directory}/version-2/{name}", "wb") as out:
                out.write(content)
        return directory

    def past(self, *words, status=0):
        """What a command prints on its output and its errors."""
        result, out, err = self.run_zksh(*words, server="127.0.0.1:1")
        self.assertEqual(result, status, out + err)
        return out, err


class Apart(JoinedFiles):
    """The logs are in a dataLogDir."""

    def setUp(self):
        super().setUp()
        self.parent = self.file("server")
        self.data = self.write("server/data", {"snapshot.2": snapshot(node("/a")), "snapshot.4": snapshot(node("/a"), node("/b"), node("/c"))})
        self.logs = self.write("server/logs", {"log.2": log(create(2, "/a"), create(3, "/b"), create(4, "/c"), create(5, "/d"))})

    def test_both_are_read(self):
        out, _ = self.past("dump", "--in", self.data, "--in", self.logs, "--at", "0x3", "/")
        self.assertIn("/b\t", out)
        self.assertNotIn("/c\t", out)
        self.assertIn("/d\t", self.past("dump", "--in", self.logs, "--in", self.data, "/")[0])

    def test_the_parent_names_both(self):
        for command in (["txns"], ["dump"]):
            _, err = self.past(*command, "--in", self.parent, *(["/"] if command == ["dump"] else []), status=2)
            self.assertIn(f"name a server's dataDir and its dataLogDir, both, here {self.data} and {self.logs}", err)

    def test_one_names_the_other(self):
        for words in (["txns"], ["dump", "--at", "0x3", "/"], ["dump", "--at", "0x5", "/"], ["dump", "--at", "now", "/"]):
            _, err = self.past(words[0], "--in", self.data, *words[1:], status=1)
            self.assertIn(f"if the server has its logs in a dataLogDir, name that, too, here {self.logs}\n", err)
        _, err = self.past("dump", "--in", self.logs, "/", status=1)
        self.assertIn(f"its dataDir, name that, too, here {self.data}\n", err)

    def test_logs_in_a_directory_below_the_data(self):
        shutil.move(self.logs, self.data + "/log")
        _, err = self.past("dump", "--in", self.data, "--at", "0x3", "/", status=1)
        self.assertIn(f"name that, too, here {self.data}/log\n", err)

    def test_of_several_servers_none_is_named(self):
        shutil.copytree(self.logs, self.parent + "/other")
        self.assertTrue(self.past("txns", "--in", self.data, status=1)[1].endswith("name that, too\n"))


    def end_of_a_server(self):
        """What a server on the two directories writes before it exits; None if it serves."""
        server = Server({"dataLogDir": self.logs})
        server.directory = self.parent
        server.port = free_port()
        server._spawn()  # pylint: disable=protected-access
        self.addCleanup(server.kill)
        wait_until(lambda: server.process.poll() is not None or "Mode: " in four_letter_word(server.port, "srvr"), 120)
        serves = server.process.poll() is None
        server.kill()
        return None if serves else pathlib.Path(self.parent, "log").read_text("utf-8", "replace")

    def test_files_in_the_wrong_directory(self):
        for name, source, target, words in (("log.2", self.logs, self.data, "Snapshot directory has log files"),
                                            ("snapshot.2", self.data, self.logs, "Log directory has snapshot files"), (None, None, None, None)):
            with self.subTest(name):
                if name:
                    shutil.copy(f"{source}/version-2/{name}", f"{target}/version-2")
                status = int(name is not None)
                out, _ = self.past("txns", "--in", self.data, "--in", self.logs, "--check", "-o", "json", status=status)
                self.assertEqual(judged_release() in json.loads(out.splitlines()[-1])["versions"], name is None)
                end = self.end_of_a_server()
                self.assertEqual(end is None, name is None, end)
                if name:
                    self.assertIn(words, out)
                    os.remove(f"{target}/version-2/{name}")


class Members(JoinedFiles):
    """Of one ensemble, and what one of them wrote without the others."""

    def test_an_epoch_of_one_alone(self):
        """Its leader wrote, nobody followed, and the others elected another."""
        agreed = {"snapshot.0": snapshot(), "log.100000001": log(*(create(1 << 32 | number, f"/a{number}") for number in range(1, 4)))}
        alone = self.write("alone", {**agreed, "log.200000001": log(create(2 << 32 | 1, "/phantom"))})
        others = self.write("others", {**agreed, "log.300000001": log(create(3 << 32 | 1, "/later"))})
        out, err = self.past("dump", "--in", alone, "--in", others, "/")
        self.assertNotIn("/phantom", out)
        self.assertIn("/later", out)
        self.assertIn("never agreed on: the other servers went on in a new epoch without it, 0x200000001", err)
        out, _ = self.past("txns", "--in", others, "--in", alone, "--check")
        self.assertIn("harmless: ", out)

    def test_a_snapshot_of_what_was_not_agreed_on(self):
        agreed = log(create(1 << 32 | 1, "/a"))
        alone = self.write("alone", {"snapshot.100000002": snapshot(node("/a"), node("/phantom"))})
        others = self.write("others", {"snapshot.0": snapshot(), "log.100000001": agreed, "log.200000001": log(set_data(2 << 32 | 1, "/a"))})
        third = self.write("third", {"log.100000001": agreed, "log.200000001": log(set_data(2 << 32 | 1, "/a"))})
        joined = [word for place in (alone, others, third) for word in ("--in", place)]
        self.assertNotIn("/phantom", self.past("dump", *joined, "/")[0])
        out, _ = self.past("txns", *joined, "--check")
        self.assertIn("harmless: ", out)
        self.assertIn("2 transactions up to 0x200000001, 4 nodes", out)


if __name__ == "__main__":
    unittest.main()
