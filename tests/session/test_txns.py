"""txns and dump --in on the files of real servers: lines, reasons, damage, rolls of the log, and the tree as it was."""
import contextlib
import glob
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import unittest

from session_case import SessionTest
from ensemble import Ensemble
from server import Server, needs, server_version
from txnlog_files import create, delete, log, snapshot
from waiting import wait_until
from znodes import SET_DATA, Znodes, pack_string
from zksh import ZKSH, environment


class TxnsTest(SessionTest):
    config = {**SessionTest.config, "snapCount": "60", "preAllocSize": "64", "extendedTypesEnabled": "true"}

    @property
    def data(self):
        return os.path.join(self.server.directory, "data")

    def zksh(self, *lines):
        status, out, err = self.run_zksh(*(word for line in lines for word in ("-c", line)))
        self.assertEqual(status, 0, err)
        return out

    def txns(self, *arguments, status=0, place=None):
        result, out, err = self.run_zksh("txns", "--in", place or self.data, *arguments, server="127.0.0.1:1")
        self.assertEqual(result, status, err + out)
        return out

    def rows(self, *arguments, **how):
        """Operation, path below the root, kind, version, length, reason, part of a multi."""
        lines = self.txns("-R", "-o", "plain", *arguments, self.root, **how).splitlines()
        rows = [line.split("\t") for line in lines]
        return [(op, path.removeprefix(self.root), *rest) for _, _, _, _, op, path, *rest in rows]

    def writes_snapshot(self):
        """After a number of transactions the server writes one, beside its answers."""
        files = []
        for fd in glob.glob(f"/proc/{self.server.process.pid}/fd/*"):
            with contextlib.suppress(FileNotFoundError):
                files.append(os.readlink(fd))
        return any("/snapshot." in file for file in files)

    def copied(self, name="copy"):
        wait_until(lambda: not self.writes_snapshot())
        target = self.file(name)
        shutil.copytree(self.data, target)
        return target

    @staticmethod
    def bytes(path):
        with open(path, "rb") as file:
            return file.read()

    def logs(self, place):
        return sorted(glob.glob(place + "/version-2/log.*"), key=lambda path: int(path.rpartition(".")[2], 16))


class Lines(TxnsTest):
    def test_every_operation(self):
        self.zksh("create /a one", "set /a three", "create -e /e x", "setAcl /a world:anyone:cdrwa", "create /gone y",
                  "delete /gone")
        self.wait_gone("/e")
        self.assertEqual(self.rows()[1:], [
            ("create", "/a", "persistent", "-", "3", "-", "-"), ("set", "/a", "-", "1", "5", "-", "-"),
            ("create", "/e", "ephemeral", "-", "1", "-", "-"), ("setAcl", "/a", "-", "1", "-", "-", "-"),
            ("create", "/gone", "persistent", "-", "1", "-", "-"), ("delete", "/gone", "-", "-", "-", "client", "-"),
            ("delete", "/e", "-", "-", "-", "closed", "-")])
        self.rows("--from", "yesterday 00:00")
        self.rows("--to", "yesterday 00:00", status=1)
        [line] = self.txns("-o", "json", "-d", "--op", "set", self.root + "/a").splitlines()
        value = json.loads(line)
        self.assertEqual((value["op"], value["data"], value["version"], value["multi"]), ("set", "three", 1, None))
        text = self.txns("-d", "-n", "1", "--op", "create", self.root + "/a")
        self.assertIn(f"create  {self.root}/a  persistent, \"one\"\n", text)

    def test_an_expired_session(self):
        gone = Znodes(self.server.address, session_timeout=4000)
        gone.create(self.root + "/e", b"", 1)
        gone.connection.close()
        self.wait_gone("/e")
        self.assertEqual(self.rows("--op", "delete"), [("delete", "/e", "-", "-", "-", "expired", "-")])

    def test_a_failed_multi_changed_nothing(self):
        self.zksh("multi 'create /m1 x' 'create /m2 y'")
        status, _, _ = self.run_zksh("multi", "create /f1 x", "create /none/f2 y")
        self.assertEqual(status, 4)
        self.assertEqual([row[1] for row in self.rows("--op", "create")], ["", "/m1", "/m2"])
        errors = self.txns("--errors", "--op", "error", "-o", "json").splitlines()
        self.assertIn("NoNode", [json.loads(line)["code"] for line in errors])
        self.assertEqual([row[-1] for row in self.rows("--op", "create")], ["-", "1", "2"])

    def test_filters(self):
        self.zksh("create /a x", "create /a/b y", "create /ab z")
        self.assertEqual(len(self.txns(self.root + "/a").splitlines()), 1)
        self.assertEqual(len(self.txns("-R", self.root + "/a").splitlines()), 2)
        self.assertEqual(len(self.txns(self.root + "/a*").splitlines()), 2)
        self.assertEqual(len(self.txns("-R", self.root + "/a*").splitlines()), 3)
        first, second, third = (json.loads(line) for line in self.txns("-R", "-o", "json", self.root).splitlines()[1:])
        between = ["--from", first["zxid"], "--to", str(second["time"])]
        self.assertEqual(self.rows(*between)[0][1], "/a")
        self.assertEqual(self.rows("--from", third["zxid"])[0][1], "/ab")
        self.assertEqual(len(self.rows("--session", first["session"])), 3)
        self.rows("--from", "now", status=1)
        self.rows("--from", "-1h", "--op", "setAcl", status=1)

    def test_what_cannot_be_read(self):
        for words in (["--in", "/nonexistent"], ["--in", self.directory], ["--in", __file__], [], ["--in", self.data, "--from", "x"],
                      ["--in", self.data, "--op", "write"], ["--in", self.data, "--locks", "--check"],
                      ["--in", self.data, "--check", "-n", "3"], ["--in", self.data, "--locks", "-n", "0"]):
            status, out, err = self.run_zksh("txns", *words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertTrue(err)

    def test_what_would_be_ignored_is_refused(self):
        for words, text in ((["--check", "/app"], "a path cannot be used with --check"), (["--check", "--op", "create"], "--op cannot"),
                            (["--check", "--from", "-1h"], "--from cannot"), (["--locks", "--op", "create"], "--op cannot"),
                            (["--locks", "-d"], "--data cannot"), (["--by", "path", "--errors"], "--errors cannot"),
                            (["--from", "now", "--to", "-1h"], "--to is before --from"), (["--from", "0x2", "--to", "0x1"], "--to is")):
            status, out, err = self.run_zksh("txns", "--in", self.data, *words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertIn(text, err)

    def test_what_is_no_file(self):
        fifo = self.file("fifo")
        os.mkfifo(fifo)
        empty = self.file("empty", "")
        for command in ("txns", "dump"):
            for place, text in ((fifo, "neither a file nor a directory"), ("/dev/null", "neither a file"), (empty, "is empty")):
                status, out, err = self.run_zksh(command, "--in", place, *(["/"] if command == "dump" else []))
                self.assertEqual((status, out), (2, ""), place)
                self.assertIn(text, err)

    def test_quotes_in_values(self):
        self.znodes.set(self.root, b'cmd="x"')
        self.assertIn(r'"cmd=\"x\""', self.txns("-d", "--op", "set", self.root))

    def test_nothing_is_written(self):
        place = self.copied()
        before = [(entry, os.stat(entry).st_mtime_ns) for entry in sorted(glob.glob(place + "/**", recursive=True))]
        self.txns(place=place)
        self.run_zksh("txns", "--in", place, "--check")
        self.run_zksh("dump", "--in", place, "/")
        self.assertEqual([(entry, os.stat(entry).st_mtime_ns) for entry in sorted(glob.glob(place + "/**", recursive=True))], before)


class Follow(TxnsTest):
    def test_over_rolls_of_the_log(self):
        follower = self.start("-o", "plain", "txns", "--in", self.data, "--follow", "-R", "-d", self.root, server="127.0.0.1:1")
        self.assertIn(b"create\t" + self.root.encode(), follower.stdout.readline())
        logs = len(self.logs(self.data))
        self.znodes.create(self.root + "/n", b"")
        for number in range(300):
            self.znodes.set(self.root + "/n", b"%d" % number)
        self.assertGreater(len(self.logs(self.data)), logs + 1)
        lines = [follower.stdout.readline().split()[-1] for _ in range(301)]
        self.assertEqual(lines[1:], [b"%d" % number for number in range(300)])
        follower.send_signal(signal.SIGINT)
        self.assertEqual(follower.wait(60), 130)
        self.assertEqual(follower.stderr.read(), b"")


    def test_a_reader_that_has_gone(self):
        follower = self.start("-o", "plain", "txns", "--in", self.data, "--follow", "-R", self.root, server="127.0.0.1:1")
        follower.stdout.readline()
        follower.stdout.close()
        self.assertEqual(follower.wait(60), 141)  # without another transaction
        follower.stdout = None


class Damage(TxnsTest):
    def setUp(self):
        super().setUp()
        for number in range(40):
            self.znodes.create(f"{self.root}/n{number}", b"value")
        self.place = self.copied()
        # Where the log rolls is the server's choice: a node whose neighbours are in the same log.
        self.log, self.spoiled = next(
            (log, number) for log in self.logs(self.place) for number in range(1, 39)
            if all(self.record(near) in self.bytes(log) for near in (number - 1, number, number + 1)))

    def record(self, number):
        """What the log has of the creation of a node: its path and its value."""
        return f"{self.root}/n{number}".encode() + b"\0\0\0\5value"

    def spoil(self, change):
        content = bytearray(self.bytes(self.log))
        change(content)
        with open(self.log, "wb") as file:
            file.write(content)

    def flip(self, content):
        content[content.index(self.record(self.spoiled)) + 4] ^= 1

    def test_one_flipped_byte(self):
        self.spoil(self.flip)
        status, out, err = self.run_zksh("txns", "--in", self.place, "-R", "-o", "plain", self.root)
        paths = [line.split("\t")[5] for line in out.splitlines()]
        self.assertEqual(status, 1)
        self.assertNotIn(f"{self.root}/n{self.spoiled}", paths)
        self.assertIn(self.root + "/n39", paths)
        self.assertRegex(err, r"\n  it seems to hold: .*  create  .*, 5 bytes")
        self.assertRegex(err, r"log\.[0-9a-f]+:\d+: a wrong checksum, between 0x[0-9a-f]+ and 0x[0-9a-f]+; \d+ bytes passed over\n")
        out = self.txns("--check", place=self.place, status=1)
        self.assertIn("a wrong checksum", out)
        status, out, err = self.run_zksh("dump", "--in", self.place, "--at", "now", self.root)
        if status == 0:  # the snapshot is newer than the damage
            self.assertIn("/n39\t", out)
        else:
            self.assertEqual((status, out), (1, ""))
            self.assertIn("missing", err)

    @staticmethod
    def zxid(path):
        return int(os.path.basename(path).split(".")[1], 16)

    def snapshots(self, place):
        return sorted(glob.glob(place + "/version-2/snapshot.*"), key=self.zxid)

    def lost_log(self, place):
        """A log between others, and the next, if a later snapshot has what is in it."""
        logs = self.logs(place)
        newest = self.zxid(self.snapshots(place)[-1])
        return next(((lost, after) for lost, after in reversed(list(zip(logs[1:], logs[2:]))) if self.zxid(after) <= newest), None)

    def test_a_lost_log(self):
        place = self.copied("lost")
        while not self.lost_log(place):  # where the server rolls, and takes a snapshot, is its own choice
            for number in range(100):
                self.znodes.set(self.root + "/n1", b"%d" % number)
            shutil.rmtree(place)
            place = self.copied("lost")
        lost, following = self.lost_log(place)
        first, after = self.zxid(lost), self.zxid(following)
        os.unlink(lost)
        for snapshot in self.snapshots(place):
            if first <= self.zxid(snapshot) < after:
                os.unlink(snapshot)
        checked = self.txns("--check", place=place)  # a server starts: the newest snapshot has what is lost
        self.assertRegex(checked, "harmless: .*: transactions are missing")
        status, _, err = self.run_zksh("txns", "--in", place)
        self.assertEqual(status, 1)
        self.assertIn("transactions are missing, between", err)
        status, out, err = self.run_zksh("dump", "--in", place, "--at", hex((first + after) // 2), "/zookeeper")
        self.assertEqual((status, out), (1, ""))
        self.assertIn(f"and before {hex(after)} are missing", err)
        run = subprocess.run([ZKSH, "--sandbox", "--data", f"{place}@{hex((first + after) // 2)}", "-c", "ls /"],
                             env=environment(self.directory), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn(f"and before {hex(after)} are missing", run.stderr)

    def test_a_log_without_snapshots(self):
        shutil.rmtree(self.place)
        for number in range(100):
            self.znodes.set(self.root, b"%d" % number)
        self.place = self.copied()
        for path in glob.glob(self.place + "/version-2/snapshot.*") + self.logs(self.place)[:-1]:
            os.unlink(path)
        self.assertIn("no intact snapshot", self.txns("--check", place=self.place, status=1))
        status, _, err = self.run_zksh("dump", "--in", self.place, "/")
        self.assertEqual(status, 1)
        self.assertIn("there is no readable snapshot", err)

    def test_killed_while_it_wrote(self):
        self.server.kill()
        result = self.txns("--check")
        self.assertIn("a server starts on these files", result)
        with open(self.logs(self.data)[-1] + "ff", "wb"):  # the next one, created and no more
            pass
        self.assertIn("the file is empty", self.txns("--check", status=1))
        os.unlink(self.logs(self.data)[-1])


class Past(TxnsTest):
    def dump(self, *words, status=0):
        result, out, err = self.run_zksh("dump", *words)
        self.assertEqual(result, status, err)
        return out

    def test_the_dump_of_the_past_is_the_live_one(self):
        self.zksh("create /q x", "setquota -n 100 /q", "create /bin $'\\xff\\x00'", "create /empty ''", "create /acl x world:anyone:r,ip:127.0.0.1:cdrwa",
                  "create -e /e x")
        for number in range(150):
            self.znodes.create(f"{self.root}/n{number}", b"%d" % number)
            if number % 3 == 0:
                self.znodes.delete(f"{self.root}/n{number}")
        live = self.dump("/")
        past = self.dump("--in", self.data, self.root)
        self.assertEqual(past.split("\n", 1)[1], live.split("\n", 1)[1])
        json_lines = self.dump("-o", "json", "--in", self.data, self.root).splitlines()
        self.assertEqual(len(json_lines), len(past.splitlines()))

    def test_a_deleted_node_is_restored(self):
        self.zksh("create /a value", "create /a/b below", "deleteall /a")
        deletions = [json.loads(line) for line in self.txns("-o", "json", "-R", "--op", "delete", self.root).splitlines()]
        before = hex(int(deletions[0]["zxid"], 16) - 1)
        tree = self.file("tree", self.dump("--in", self.data, "--at", before, self.root + "/a"))
        status, _, err = self.run_zksh("apply", "--to", "/a", tree)
        self.assertEqual(status, 0, err)
        self.assertEqual(self.zksh("get /a/b"), "below\n")

    def test_a_snapshot_without_its_logs(self):
        for number in range(100):
            self.znodes.set(self.root, b"%d" % number)
        place = self.copied()
        for log in self.logs(place):
            os.unlink(log)
        status, out, err = self.run_zksh("dump", "--in", place, "/zookeeper")
        if server_version() < (3, 6):
            self.assertEqual(status, 1)
            self.assertIn("# fuzzy: the tree at", out)
            self.assertIn("only about right", err)
        else:
            self.assertIn(status, (0, 1))
            self.assertEqual("# fuzzy" in out, status == 1)

    def test_a_private_server_of_the_past(self):
        self.zksh("create /a old world:anyone:ra", "create -e /e x")
        self.wait_gone("/e")
        then = json.loads(self.txns("-o", "json", "-n", "1", "--op", "delete", self.root + "/e"))["zxid"]
        before = hex(int(then, 16) - 1)
        self.zksh("create /later x")
        past = self.dump("--in", self.data, "--at", before, self.root)

        def sandbox(data, *lines):
            words = [ZKSH, "--sandbox", "--data", data, "-q", *(word for line in lines for word in ("-c", line))]
            return subprocess.run(words, env=environment(self.directory), capture_output=True, text=True, timeout=120, check=False)

        run = sandbox(f"{self.data}@{before}", "dump " + self.root, "stat " + self.root + "/e")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(run.stdout.startswith(past), run.stdout)
        self.assertIn("ephemeralOwner = 0x1", run.stdout.replace("0x0", ""))
        run = sandbox(self.data, "exists " + self.root + "/later", "set " + self.root + "/later y")
        self.assertEqual(run.returncode, 11)
        self.assertIn("read-only", run.stderr)
        for words in (["--data", self.data], ["--sandbox=3", "--data", self.data], ["--sandbox", "--data", self.data + "@x"],
                      ["--sandbox", "--data", "/nonexistent"]):
            run = subprocess.run([ZKSH, *words, "-c", "ls /"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(run.returncode, 2, run.stderr)

    def test_who_deleted_what_is_gone(self):
        self.zksh("create /a x", "delete /a", "create -e /e y")
        self.wait_gone("/e")
        for path, by in (("/a", "of session 0x"), ("/e", "the end of session 0x")):
            deletion = json.loads(self.txns("-o", "json", "--op", "delete", self.root + path))["zxid"]
            status, out, err = self.run_zksh("dump", "--in", self.data, self.root + path)
            self.assertEqual((status, out), (4, ""))
            self.assertIn(f"{self.root}{path} was deleted by {deletion}, ", err)
            self.assertIn(by, err)
            if path == "/a":
                self.assertIn(f"{path}\t", self.dump("--in", self.data, "--at", "before:" + deletion, self.root))
        self.dump("--in", self.data, "--at", "before:x", "/", status=2)

    def test_a_node_that_never_was(self):
        self.dump("--in", self.data, self.root + "/never", status=4)
        self.dump("--at", "0x1", "/", status=2)
        self.dump("--in", self.data, "--at", "2001-01-01", "/", status=1)

    def test_a_time_after_the_end_is_told(self):
        newest = self.dump("--in", self.data, "/zookeeper")
        status, out, err = self.run_zksh("dump", "--in", self.data, "--at", "2099-01-01", "/zookeeper")
        self.assertEqual((status, out), (0, newest))
        self.assertRegex(err, r"^the files end at 0x[0-9a-f]+, \d{4}-.*, before 2099-01-01 00:00:00\.000\n$")


class Locks(TxnsTest):
    def test_the_same_as_contend_says(self):
        status, out, err = self.run_zksh("contend", "-o", "json", "-n", "5", "--rounds", "4", "--sessions", "5", "/lock")
        self.assertEqual(status, 0, err)
        turns = [json.loads(line) for line in self.txns("--locks", "-R", "-o", "json", self.root + "/lock").splitlines()]
        report = json.loads(out.splitlines()[-1])
        self.assertEqual(len([turn for turn in turns if turn["heldMs"] is not None]), report["acquisitions"])
        self.assertEqual({turn["outcome"] for turn in turns}, {"released"})
        self.assertEqual(sorted(turns, key=lambda turn: int(turn["token"], 16)), turns)
        for form in ("json", "plain", "text"):
            all_turns = self.txns("--locks", "-o", form, self.root + "/lock").splitlines()
            self.assertEqual(self.txns("--locks", "-n", "3", "-o", form, self.root + "/lock").splitlines(), all_turns[-3:])

    def test_how_turns_end(self):
        holder = self.start("lock", "/lock", "--", "sh", "-c", "echo ready; read line")
        self.assertEqual(holder.stdout.readline(), b"ready\n")
        waiter = self.start("lock", "/lock", "--", "true")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/lock")) == 2)
        texts = self.txns("--locks", self.root + "/lock").splitlines()
        self.assertRegex(texts[0], r"_c_.*-lock-0000000000  exclusive, waited 0us, held .* from [0-9:.]+, still held$")
        self.assertRegex(texts[1], r"exclusive, waited .*, still waiting$")
        first = sorted(self.znodes.children(self.root + "/lock"), key=lambda name: name[-10:])[0]
        self.znodes.delete(f"{self.root}/lock/{first}")
        self.assertEqual(waiter.wait(60), 0)
        self.end(holder)
        turns = [json.loads(line) for line in self.txns("--locks", "-o", "json", self.root + "/lock").splitlines()]
        self.assertEqual([turn["outcome"] for turn in turns], ["deleted", "released"])
        self.assertEqual([turn["ended"] - turn["acquired"] for turn in turns], [turn["heldMs"] for turn in turns])
        self.assertEqual([turn["overlaps"] for turn in turns], [0, 0])
        self.assertTrue(turns[0]["endedBy"])


    def test_a_snapshot_that_is_not_whole_is_passed_over(self):
        place = self.file("unfinished")
        os.makedirs(place + "/version-2")
        node = "/lock/x-lock-0000000000"
        files = {"log.1": log(create(1, "/lock"), create(2, node, ephemeral=True)), "log.3": log(delete(3, node)),
                 "snapshot.0": snapshot(), "snapshot.2": snapshot()[:-5]}
        for name, content in files.items():
            pathlib.Path(place, "version-2", name).write_bytes(content)
        for _ in range(2):
            for start in ([], ["--from", "0x3"]):
                [line] = self.txns("--locks", *start, "-o", "plain", "/lock", place=place).splitlines()
                self.assertEqual(line.split("\t")[3], node)
                self.assertEqual(line.split("\t")[7], "released")
            pathlib.Path(place, "version-2/snapshot.0").unlink(missing_ok=True)

    def test_a_semaphore_by_its_path(self):
        holder = self.start("semaphore", "/sema", "1", "--", "sh", "-c", "read line")
        self.wait_until(lambda: self.znodes.exists(self.root + "/sema/leases") and self.znodes.children(self.root + "/sema/leases"))
        waiter = self.start("semaphore", "/sema", "1", "--", "true")
        self.wait_until(lambda: self.znodes.children(self.root + "/sema/locks"))
        self.assertRegex(self.txns("--locks", self.root + "/sema").splitlines()[-1], r"/sema/locks/.*, still waiting$")
        holder.communicate(b"\n", timeout=60)
        self.assertEqual(waiter.wait(60), 0)
        turns = [json.loads(line) for line in self.txns("--locks", "-o", "json", self.root + "/sema").splitlines()]
        self.assertEqual([(turn["mode"], turn["path"]) for turn in turns], [("lease", self.root + "/sema/leases")] * 2)
        self.assertGreater(turns[1]["waitedMs"], 0)


class Raised(TxnsTest):
    """A server with a raised jute.maxbuffer, and a value that others do not take."""

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(cls.config, jvm_flags=["-Djute.maxbuffer=8000000"]))
        cls.roots = 0

    def test_a_private_server_takes_what_its_files_hold(self):
        length = 3_000_000
        self.znodes.set(self.root, b"v" * length)
        place = self.copied()
        run = subprocess.run([ZKSH, "--sandbox", "--data", place, "-c", f"get {self.root}"], env=environment(self.directory),
                             capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((run.returncode, len(run.stdout)), (0, length + 1), run.stderr)
        self.assertRegex(run.stderr, r"this one runs with -Djute\.maxbuffer=30000\d\d\n")
        out = self.txns("--check", place=place, status=1)
        self.assertRegex(out, r"\(\"Unreasonable length = 30000\d\d\"\)")
        self.assertRegex(out, r"start servers with -Djute\.maxbuffer=30000\d\d ")

    def test_flags_for_java_are_passed_on(self):
        for words in ([], ["--data", self.copied()]):
            run = subprocess.run([ZKSH, "--sandbox", *words, "-c", "ls /"], capture_output=True, text=True, timeout=120, check=False,
                                 env={**environment(self.directory), "SERVER_JVMFLAGS": "-Xno-such-flag"})
            self.assertEqual(run.returncode, 1)
            self.assertIn("-Xno-such-flag", run.stderr)
            self.assertEqual("`txns --check` says whether its files are the reason" in run.stderr, bool(words))


class By(TxnsTest):
    def test_the_rows_add_up_to_the_logs(self):
        self.zksh("create /a x", "create -e /e y")
        self.run_zksh("multi", "create /m x", "delete /none")
        place = self.copied()
        length = sum(len(self.bytes(log).rstrip(b"\0")) for log in self.logs(place))
        for by in ("path", "path:1", "session"):
            rows = [line.split("\t") for line in self.txns("--by", by, "-o", "plain", place=place).splitlines()]
            self.assertEqual(sum(int(row[4]) for row in rows), length, by)
        rows = {row[5]: int(row[0]) for row in (line.split("\t") for line in self.txns("--by", "path:1", "-o", "plain", place=place).splitlines())}
        self.assertGreater(rows["(sessions)"], 3)
        self.assertGreater(rows["(failed requests)"], 0)
        self.assertRegex(self.txns("--by", "path", place=place), r"\nbeside the logs: \d+ snapshots?, ")

    def test_what_fills_the_disk(self):
        self.zksh("create /big " + "x" * 5000, "create /small y", "set /small z")
        rows = self.txns("-R", "--by", "path", "-o", "plain", self.root).splitlines()
        self.assertTrue(rows[0].endswith(self.root + "/big"))
        self.assertEqual(rows[1].split("\t")[:4], ["2", "1", "1", "0"])
        [row] = self.txns("-R", "--by", "path:1", "-o", "json", self.root).splitlines()
        value = json.loads(row)
        self.assertEqual((value["path"], value["operations"]), (self.root, 4))
        rows = self.txns("-R", "--by", "session", "-n", "1", self.root).splitlines()
        self.assertEqual(rows[0].split()[-1], "session")
        self.assertIn("(all others)", rows[2])


@needs(3, 6)
class Packed(TxnsTest):
    method = "gz"

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(cls.config, jvm_flags=[f"-Dzookeeper.snapshot.compression.method={cls.method}"]))
        cls.roots = 0

    def test_digests_and_the_live_dump(self):
        for number in range(200):
            self.znodes.create(f"{self.root}/n{number}", b"%d" % number * 50)
            self.znodes.set(self.root, b"%d" % number)
        place = self.copied()  # the server may be writing its last snapshot
        self.assertTrue(glob.glob(place + "/version-2/snapshot.*." + self.method))
        result = json.loads(self.txns("--check", "-o", "json", place=place).splitlines()[-1])
        self.assertEqual((result["starts"], result["problemCount"]), (True, 0))
        status, live, _ = self.run_zksh("dump", "/")
        self.assertEqual(status, 0)
        status, past, err = self.run_zksh("dump", "--in", place, self.root)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(past.split("\n", 1)[1], live.split("\n", 1)[1])


@needs(3, 6)
class PackedWithSnappy(Packed):
    method = "snappy"


@needs(3, 6)
class WithoutDigests(TxnsTest):
    """As servers before 3.6 write: no digests, and no paths at the end of a session."""

    @classmethod
    def setUpClass(cls):
        flags = ["-Dzookeeper.digest.enabled=false", "-Dzookeeper.closeSessionTxn.enabled=false"]
        cls.server = cls.enterClassContext(Server(cls.config, jvm_flags=flags))
        cls.roots = 0

    def test_ends_of_sessions(self):
        self.zksh("create -e /e x", "create /p y")
        self.wait_gone("/e")
        self.assertIn(("delete", "/e", "-", "-", "-", "closed", "-"), self.rows())
        self.assertIn("a server starts", self.txns("--check"))


@needs(3, 5)
class Members(TxnsTest):
    """Three members, of which the leader is killed: two epochs, and logs that differ where a multi failed."""

    def test_members_tell_the_same(self):
        script = self.file("script", "\n".join([
            "create /a x", "create -e /e y", *(f"set /a {number}" for number in range(30)), "multi 'create /f x' 'create /none/f y'",
            "create /b z"]) + "\n")
        sandbox = subprocess.Popen([ZKSH, "--sandbox=3", "-k", "-q", "--connect-timeout", "120s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=environment(self.directory, TMPDIR=self.directory), text=True)
        self.addCleanup(self.end, sandbox)
        with open(script, encoding="utf-8") as file:
            sandbox.stdin.write(file.read())
        leader = None
        while leader is None:  # a server of a busy machine may answer too late to be listed with its role
            sandbox.stdin.write("sandbox -o json\n")
            sandbox.stdin.flush()
            servers = []
            while len(servers) < 3:
                line = sandbox.stdout.readline()
                self.assertTrue(line, "zksh has ended")
                servers += [json.loads(line)] if line.startswith('{"serverId"') else []
            leader = next((server["serverId"] for server in servers if server["role"] == "leader"), None)
        sandbox.stdin.write(f"sandbox stop {leader}\n" + "".join(f"create /later{number} x\n" for number in range(5)) + "sync /\nget /later4\n")
        sandbox.stdin.flush()
        while sandbox.stdout.readline() != "x\n":
            pass
        [top] = glob.glob(self.directory + "/zksh-sandbox*")
        places = {number: f"{top}/server-{number}/data" for number in (1, 2, 3)}
        others = [places[number] for number in places if number != leader]
        joined = [word for place in places.values() for word in ("--in", place)]
        status, out, err = self.run_zksh("txns", *joined, "-o", "plain", "--op", "create,set", server="127.0.0.1:1")
        self.assertEqual((status, err), (0, ""))
        rows = [line.split("\t") for line in out.splitlines()]
        paths = [row[5] for row in rows]
        self.assertEqual(paths.count("/a"), 31)
        self.assertNotIn("/f", paths)
        self.assertEqual(paths[-1], "/later4")
        self.assertEqual(len({int(row[1], 16) >> 32 for row in rows}), 2)
        self.assertEqual(len({row[1] for row in rows}), len(rows))
        for place in others:
            self.assertIn("a server starts", self.txns("--check", place=place))
        dumps = [self.run_zksh("dump", "--in", place, "/") for place in others]
        self.assertEqual(dumps[0], dumps[1])
        self.assertEqual(dumps[0][0], 0)

    def test_a_member_that_was_away_while_a_multi_failed(self):
        """It gets the multi from the leader's memory, in which all parts have become errors."""
        path = self.root + "f"
        with Ensemble(3) as ensemble:
            self.assertEqual(self.run_zksh("create", "/first", server=ensemble.connect_string)[0], 0)
            away = ensemble.follower()
            away.kill()
            status, _, _ = self.run_zksh("multi", f"create {path} x", "create /none/f y", server=ensemble.connect_string)
            self.assertEqual(status, 4)
            away._spawn()
            away.wait_mode("follower")
            status, _, err = self.run_zksh("-c", "sync /; create /later x", server=away.address)
            self.assertEqual(status, 0, err)
            # Two members were enough for it; the third may lag.
            wait_until(lambda: all(any(b"/later" in self.bytes(log) for log in self.logs(server.directory + "/data"))
                                   for server in ensemble.servers))
            records = set()
            texts = set()
            for server in ensemble.servers:
                data = server.directory + "/data"
                for log in map(self.bytes, self.logs(data)):
                    if (at := log.find(path.encode())) > 0:
                        records.add(log[at - 12:at])  # the type and the lengths before the path
                texts.add(self.txns("--errors", "--to", "now", place=data))
            self.assertEqual({record[:4] for record in records}, {b"\0\0\0\1", b"\xff\xff\xff\xff"})
            self.assertEqual(len(texts), 1, texts)
            joined = [word for server in ensemble.servers for word in ("--in", server.directory + "/data")]
            status, out, err = self.run_zksh("txns", "--errors", *joined, server="127.0.0.1:1")
            self.assertEqual((status, out, err), (0, *texts, ""))
            self.assertEqual(out.count("NoNode, nothing of a multi was applied"), 1)
            self.assertNotIn(path, out)

    def test_what_a_leader_wrote_alone(self):
        """It is in one member's log, and the others go on in a new epoch without it."""
        path = self.root + "p"
        with Ensemble(3) as ensemble:
            leader = next(server for server in ensemble.servers if server.mode() == "leader")
            others = [server for server in ensemble.servers if server is not leader]
            self.assertEqual(self.run_zksh("create", path, "agreed", server=ensemble.connect_string)[0], 0)
            self.assertEqual(self.run_zksh("sync", "/", server=others[0].address)[0], 0)
            alone = Znodes(leader.address)
            self.addCleanup(alone.connection.close)
            for server in others:
                server.freeze()
            alone.xid += 1
            alone._send(struct.pack(">ii", alone.xid, SET_DATA) + pack_string(path) + pack_string("PHANTOM") + struct.pack(">i", -1))
            wait_until(lambda: any(b"PHANTOM" in self.bytes(log) for log in self.logs(leader.directory + "/data")))
            for server in (leader, *others):
                server.kill()
            for server in others:
                server._spawn()
            for server in others:
                server.wait_mode("leader", "follower")
            self.assertEqual(self.run_zksh("create", path + "/later", "x", server=others[0].address)[0], 0)
            for server in others:
                server.kill()
            joined = ["--in", leader.directory + "/data", "--in", others[0].directory + "/data"]
            for command in (["txns", "-d", path], ["dump", path]):
                status, out, err = self.run_zksh(command[0], *joined, *command[1:], server="127.0.0.1:1")
                self.assertEqual(status, 0, err)
                self.assertNotIn("PHANTOM", out)
                self.assertIn("agreed", out)
                self.assertRegex(err, r"never agreed on: the other servers went on in a new epoch without it, 0x")
            checked = self.run_zksh("txns", *joined, "--check", server="127.0.0.1:1")[1]
            self.assertRegex(checked, "harmless: .*never agreed on")
            # As if it had been sent a snapshot in place of transactions, and gone on: who is right, only digests tell.
            went_on = max(self.logs(others[0].directory + "/data"), key=lambda log: int(log.rpartition(".")[2], 16))
            shutil.copy(went_on, leader.directory + "/data/version-2")
            for command in (["txns", "-d", path], ["dump", path]):
                status, out, err = self.run_zksh(command[0], *joined, *command[1:], server="127.0.0.1:1")
                self.assertNotIn("PHANTOM", out)
                self.assertRegex(err, r"never agreed on: the other servers went on in a new epoch without it, 0x")
            run = subprocess.run([ZKSH, "--sandbox", "--data", joined[1], "--data", joined[3], "-c", f"get {path}"],
                                 env=environment(self.directory), capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stdout), (0, "agreed\n"), run.stderr)
            self.assertIn("PHANTOM", self.txns("-d", path, place=leader.directory + "/data"))  # alone it looks like any other


if __name__ == "__main__":
    unittest.main()
