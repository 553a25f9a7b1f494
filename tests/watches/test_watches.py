"""Watches between sessions: by the thousand, through lost connections, expiry and sudden ends."""
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "session"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from session_case import SessionTest  # noqa: E402
from proxy import Proxy  # noqa: E402
from server import four_letter_word, needs, server_version  # noqa: E402
from waiting import wait_until  # noqa: E402

EVENT = re.compile(rb"WatchedEvent state:(\w+) type:(\w+) path:(\S+)\n")
MANY = 10_000


def lines(texts):
    return "".join(text + "\n" for text in texts).encode()


class WatchTest(SessionTest):
    def watcher(self, *commands, options=(), server=None):
        """A zksh that has run the commands, and goes on reading lines."""
        process = self.start("--keep-going", *options, server=server)
        self.send(process, lines([*commands, "create -e /ready x"]))
        self.wait_node("/ready")
        return process

    def next_event(self, process):
        while line := process.stdout.readline():
            if match := EVENT.fullmatch(line):
                return match[2].decode(), match[3].decode()
        self.fail("the watcher ended: " + process.stderr.read().decode())

    def events_until_end(self, process, more=()):
        """Runs more commands, and returns all events of before and of these."""
        out, err = process.communicate(lines(more), timeout=600)
        return [(kind.decode(), path.decode()) for _, kind, path in EVENT.findall(out)], err

    def change(self, *commands):
        status, out, err = self.run_zksh(text=lines(commands), timeout=600)
        self.assertEqual((status, out), (0, ""), err)


class Waiting(WatchTest):
    """wait, whose server falls silent after it has answered once."""

    def unknown_after(self, end):
        with Proxy(self.server.port) as proxy:
            process = self.start("wait", "--exists", "--timeout", "15s", "/never", server=proxy.address + self.root)
            self.wait_until(lambda: self.root + "/never" in four_letter_word(self.server.port, "wchp"))
            end(proxy)
            out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (124, b""))
        self.assertEqual(err.splitlines()[-1], b"/never: its state is unknown, since no server answers after 15s")

    def test_a_server_that_hangs(self):
        self.unknown_after(lambda proxy: proxy.swallow())

    def test_a_server_that_is_gone(self):
        self.unknown_after(lambda proxy: proxy.close())


class Many(WatchTest):
    def test_ten_thousand_watches_set_fired_and_printed_in_order(self):
        self.change(*(f"create /n{i}" for i in range(MANY) if i % 3))
        watcher = self.start("--keep-going", stderr=subprocess.DEVNULL)
        set_up = lines(("stat -w", "get -w", "ls -w")[i % 3] + f" /n{i}" for i in range(MANY))
        changes = [("create /n{}", "set /n{} x", "create /n{}/below")[i % 3].format(i)
                   for i in range(MANY)]
        random.Random(1).shuffle(changes)
        out_thread = Reader(watcher)
        self.send(watcher, set_up + b"create -e /ready x\n")
        self.wait_node("/ready", limit=600)
        self.change(*changes)
        # A second change of the same nodes, which nobody watches any more.
        self.change(*(f"set /n{i} again" for i in range(0, MANY, 100)))
        self.close_input(watcher)
        out = out_thread.join()
        expected = []
        for change in changes:
            path = "/" + change.split("/")[1].split()[0]
            kind = {"set": "NodeDataChanged"}.get(change.split()[0], "NodeCreated")
            expected.append(("NodeChildrenChanged" if change.endswith("/below") else kind, path))
        self.assertEqual([(kind.decode(), path.decode()) for _, kind, path in EVENT.findall(out)],
                         expected)

    @needs(3, 6)
    def test_persistent_watch_of_thousands_of_nodes(self):
        self.change("create /top", *(f"create /top/d{i}" for i in range(20)),
                    *(f"create /top/d{i % 20}/n{i}" for i in range(2000)))
        watcher = self.start("--keep-going")
        out_thread = Reader(watcher)
        self.send(watcher, b"addWatch /top\ncreate -e /ready x\n")
        self.wait_node("/ready")
        self.change(*(f"set /top/d{i % 20}/n{i} x" for i in range(2000)))
        self.change("deleteall /top")
        self.change("create /last")
        self.send(watcher, b"sync /\n")
        self.wait_until(lambda: b"Sync is OK" in out_thread.out)
        self.close_input(watcher)
        events = collections.Counter(
            (kind.decode(), path.decode()) for _, kind, path in EVENT.findall(out_thread.join()))
        for i in range(2000):
            self.assertEqual(events["NodeDataChanged", f"/top/d{i % 20}/n{i}"], 1)
            self.assertEqual(events["NodeDeleted", f"/top/d{i % 20}/n{i}"], 1)
        self.assertEqual(events["NodeDeleted", "/top"], 1)
        self.assertEqual(sum(events.values()), 2000 * 2 + 20 + 1)


@needs(3, 6)
class Persistent(WatchTest):
    """Servers' own persistent watches."""

    def test_a_burst_of_writes_is_as_many_events_in_order(self):
        self.change("create /top", *(f"create /top/n{i}" for i in range(100)))
        watcher = self.watcher("addWatch /top")
        stream = self.start("watch", "-R", "-n", str(MANY), "-o", "plain", "/top")
        readers = Reader(watcher), Reader(stream)
        self.await_watch(2)
        written = [f"/top/n{i * 7 % 100}" for i in range(MANY)]
        self.change(*(f"set {path} x" for path in written))
        self.assertEqual(stream.wait(60), 0)
        lines_of_stream = readers[1].join().decode().splitlines()
        self.assertEqual([line.split("\t")[1:3] for line in lines_of_stream],
                         [["changed", path] for path in written])
        self.send(watcher, b"removewatches /top\n")
        self.wait_until(lambda: b"PersistentWatchRemoved" in readers[0].out)
        self.close_input(watcher)
        self.assertEqual([path.decode() for _, _, path in EVENT.findall(readers[0].join())][:-1], written)

    def await_watch(self, count):
        self.wait_until(lambda: f"Total watches:{count}" in self.watches())

    def watches(self):
        return four_letter_word(self.server.port, "wchs")

    def test_a_large_subtree_takes_one_watch_and_no_memory(self):
        self.run_zksh("fill", "-n", "20000", "-d", "1", "/top", timeout=600)
        self.await_watch(0)  # those of the tests before are gone
        watcher = self.start("--keep-going")
        self.send(watcher, b"create -e /ready x\n")
        self.wait_node("/ready")
        before = self.memory(watcher)
        self.send(watcher, b"addWatch /top\ncreate -e /set x\n")
        self.wait_node("/set")
        self.assertLess(self.memory(watcher) - before, 1024)
        self.assertIn("Total watches:1", self.watches())

    @staticmethod
    def memory(process):
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])

    def test_neighbours_of_a_chroot_are_not_below_it(self):
        self.change("create /in", "create /in/a")
        watcher = self.start("--keep-going", server=self.connect + "/in")
        self.send(watcher, b"addWatch /\naddWatch -m PERSISTENT /a\ncreate -e /ready x\n")
        self.wait_node("/in/ready")
        self.change("create /inner", "set /inner x", "set /in y", "set /in/a z", "create /in/a/b")
        events, _ = self.events_until_end(watcher, ["sync /"])
        self.assertEqual(events, [("NodeCreated", "/ready"), ("NodeDataChanged", "/"), ("NodeDataChanged", "/a"),
                                  ("NodeCreated", "/a/b"), ("NodeChildrenChanged", "/a")])

    def test_a_stream_tells_of_a_gap_and_of_what_was_missed(self):
        self.change("create /top", "create /top/a", "create /top/a/b", "create /top/c")
        self.await_watch(0)
        with Proxy(self.server.port) as proxy:
            stream = self.start("watch", "-R", "-n", "6", "-o", "plain", "/top", server=proxy.address + self.root)
            self.await_watch(1)
            # The server has the watch: its answer, which would be swallowed, comes before any event.
            self.change("set /top x")
            self.assertEqual(stream.stdout.readline().decode().split("\t")[1:3], ["changed", "/top"])
            proxy.swallow()
            self.change("delete /top/a/b", "set /top/c x", "create /top/d")
            proxy.cut()
            self.wait_until(lambda: b"\tgap\t" in stream.stdout.readline())
            missed = [stream.stdout.readline().decode().split("\t") for _ in range(3)]
            self.change("set /top/d y")
            self.assertEqual([line[1:3] + line[6:7] for line in missed],
                             [["children", "/top/a", "1"], ["changed", "/top/c", "1"], ["created", "/top/d", "1"]])
            self.assertEqual(stream.stdout.readline().decode().split("\t")[1:3], ["changed", "/top/d"])
            self.assertEqual(stream.wait(60), 0)


class WithoutPings(Proxy):
    """To a server that does not answer pings."""

    def _send(self, source, data):
        if source in self._from_server and data:
            data = b"".join(frame for frame in frames_of(data) if frame[4:8] != b"\xff\xff\xff\xfe")
            if not data:
                return
        super()._send(source, data)


def frames_of(data):
    """Small answers come as a whole."""
    while data:
        size = 4 + int.from_bytes(data[:4], "big")
        yield data[:size]
        data = data[size:]


@needs(3, 6)
class OwnRequests(WatchTest):
    """Those that the C client knows nothing of."""

    def test_the_next_connection_knows_what_they_have_shown(self):
        with Proxy(self.server.port) as proxy:
            session = self.start_with("create -e /ready x", server=proxy.address + self.root)
            self.change("create /a", "set /a x")
            seen = json.loads(self.run_zksh("-o", "json", "-c", "stat /a")[1])["stat"]["mzxid"]
            self.send(session, b"getAllChildrenNumber /\n")
            self.assertEqual(session.stdout.readline(), b"2\n")
            proxy.cut()
            self.wait_until(lambda: b"reconnected" in session.stderr.readline())
            # Behind the frame's length and the protocol's version.
            self.assertGreaterEqual(int.from_bytes(proxy.last_greeting[8:16], "big"), int(seen, 16))

    def test_a_server_that_answers_only_them_is_not_left(self):
        self.change("create /top", *(f"create /top/n{i}" for i in range(600)))
        with WithoutPings(self.server.port) as proxy:  # for longer than the session's timeout
            status, out, err = self.run_zksh("-t", "12000", "-c", "ls -R --rate 40 /top",
                                             server=proxy.address + self.root)
        self.assertEqual((status, out.count("\n"), err), (0, 601, ""))


@needs(3, 6)
class Quick(WatchTest):
    """What others do faster than it is read."""

    def test_what_is_told_ends_with_what_is_there(self):
        self.change("create /top")
        watcher = self.start("--keep-going")
        out_thread = Reader(watcher)
        self.send(watcher, b"addWatch /top\ncreate -e /ready x\n")
        self.wait_node("/ready")
        dice = random.Random(7)
        there, writes, commands = {"/top"}, collections.Counter(), []
        for _ in range(4000):
            path = "/top" + "".join(f"/{dice.randrange(4)}" for _ in range(dice.randrange(1, 4)))
            parent = path.rsplit("/", 1)[0]
            if path in there and not any(other.startswith(path + "/") for other in there):
                commands.append(f"delete {path}")
                there.remove(path)
            elif path in there:
                commands.append(f"set {path} x")
                writes[path] += 1
            elif parent in there:
                commands.append(f"create {path}")
                there.add(path)
        self.change(*commands)
        self.send(watcher, b"sync /\n")
        self.wait_until(lambda: b"Sync is OK" in out_thread.out)
        self.close_input(watcher)
        told = {"/top"}
        for _, kind, path in EVENT.findall(out_thread.join()):
            kind, path = kind.decode(), path.decode()
            if kind == "NodeCreated":
                self.assertNotIn(path, told, "created twice")
                told.add(path)
            elif kind == "NodeDeleted":
                self.assertIn(path, told, "deleted twice")
                told.remove(path)
            else:
                writes[path] -= 1
        self.assertEqual(told, there)
        self.assertGreaterEqual(min(writes.values()), 0)


@needs(3, 6)
class Lost(WatchTest):
    def test_events_that_never_arrived_are_found_after_the_connection_is_back(self):
        self.change("create /top", "create /top/a", "create /top/a/b", "create /top/c")
        with Proxy(self.server.port) as proxy:
            watcher = self.watcher("addWatch /top", "addWatch -m PERSISTENT /top/c",
                                   server=proxy.address + self.root)
            proxy.swallow()
            self.change("delete /top/a/b", "delete /top/a", "set /top x", "create /top/c/d",
                        "create /top/e", "set /top/e 1")
            self.wait_until(lambda: proxy.swallowed > 100)
            proxy.cut()
            missed = [self.next_event(watcher) for _ in range(5)]
            self.change("set /top/e 2", "delete /top/c/d")
            events, err = self.events_until_end(watcher, ["sync /"])
        # A later creation hides the deletions.
        self.assertEqual(missed, [
            ("NodeDataChanged", "/top"), ("NodeCreated", "/top/c/d"),
            ("NodeChildrenChanged", "/top/c"), ("NodeCreated", "/top/e"),
            ("NodeDataChanged", "/top/e")])
        self.assertEqual(events, [("NodeDataChanged", "/top/e"), ("NodeDeleted", "/top/c/d"),
                                  ("NodeChildrenChanged", "/top/c")])
        self.assertIn(b"connection lost", err)

    def test_watches_outlive_the_server(self):
        self.change("create /top", *(f"create /top/a-node-with-a-long-name-{i}" for i in range(500)))
        watcher = self.watcher("addWatch /top", "get -w /top", options=("--timeout", "60s"))
        for round_number in range(3):
            self.server.restart()
            self.wait_until(lambda: b"reconnected" in watcher.stderr.readline())
            # The first is told when all that was missed has been looked for, so that nothing else is under way.
            for name in (f"/top/a-node-with-a-long-name-{round_number}", f"/top/a-node-with-a-long-name-{round_number + 9}"):
                self.change(f"set {name} x")
                self.assertEqual(self.next_event(watcher), ("NodeDataChanged", name))
            self.await_shown(name)
        events, _ = self.events_until_end(watcher, ["set /top x", "removewatches /top"])
        self.assertEqual(events, [("NodeDataChanged", "/top"), ("PersistentWatchRemoved", "/top")])

    def await_shown(self, path):
        """Waits until the server has shown the session of /ready that it is at the node's last change: events of
        servers before 3.9 do not say where they are, and what is later than the last zxid seen counts as missed."""
        if server_version() >= (3, 9):
            return
        owner, at = (json.loads(self.run_zksh("-o", "json", "-c", f"stat {one}")[1])["stat"] for one in ("/ready", path))
        shown = re.compile(rf"sid={owner['ephemeralOwner']},.*lzxid=0x(\w+)")
        # If need be, by the next ping, which comes within 5 s.
        wait_until(lambda: (match := shown.search(four_letter_word(self.server.port, "cons"))) and
                   int(match[1], 16) >= int(at["mzxid"], 16))

    def test_more_one_shot_watches_than_fit_into_one_request_outlive_a_lost_connection(self):
        names = ["n" * 700 + str(i) for i in range(1600)]  # more than 1 MiB of each kind
        self.change("create /top", *(f"create /top/{name}" for name in names))
        with Proxy(self.server.port) as proxy:
            watcher = self.start("--keep-going", server=proxy.address + self.root, stderr=subprocess.DEVNULL)
            out_thread = Reader(watcher)
            self.send(watcher, lines(command.format(name) for name in names for command in
                                     ("get -w /top/{}", "ls -w /top/{}", "stat -w /none-{}")) + b"create -e /ready x\n")
            self.wait_node("/ready", limit=600)
            proxy.cut()
            self.wait_until(lambda: any(proxy.last_greeting[20:28]))  # with the session's id: it comes back
            # The watches of children are not counted.
            self.wait_until(lambda: f"Total watches:{2 * len(names)}" in four_letter_word(self.server.port, "wchs"))
            self.change(*(command.format(name) for name in names for command in
                          ("set /top/{} x", "create /top/{}/below", "create /none-{}")))
            self.wait_until(lambda: len(EVENT.findall(out_thread.out)) >= 3 * len(names))
            self.close_input(watcher)
            kinds = collections.Counter(kind for _, kind, _ in EVENT.findall(out_thread.join()))
        self.assertEqual(kinds, {b"NodeDataChanged": 1600, b"NodeChildrenChanged": 1600, b"NodeCreated": 1600})

    def test_a_connection_lost_while_a_large_watch_is_set(self):
        self.run_zksh("fill", "-n", "40000", "-d", "1", "/top")
        with Proxy(self.server.port) as proxy:
            watcher = self.start("--keep-going", server=proxy.address + self.root)
            proxy.swallow_after(self.root.encode() + b"/top")
            self.send(watcher, b"addWatch /top\ncreate -e /ready x\n")
            self.wait_until(lambda: proxy.swallowed)
            proxy.cut()
            self.wait_until(lambda: self.znodes.exists(self.root + "/ready"), 60)
            self.change("set /top/n0000007 x", "set /top/n0039999 x")
            self.assertEqual([self.next_event(watcher) for _ in range(2)],
                             [("NodeDataChanged", f"/top/n00{end}") for end in ("00007", "39999")])

    def test_a_connection_lost_while_a_stream_begins_makes_nothing_new(self):
        self.run_zksh("fill", "-n", "1000", "-d", "1", "/top")
        # With values, the nodes are read, too.
        for values, sign in (((), b"/top"), (("--data",), b"/top/n0000500")):
            with Proxy(self.server.port) as proxy:
                told = self.file("told", "")
                proxy.swallow_after(self.root.encode() + sign)
                watcher = self.start("watch", "-R", *values, "-n", "1", "-x", f"echo $ZKSH_EVENT_PATH >> {told}",
                                     "-o", "plain", "/top", server=proxy.address + self.root)
                self.wait_until(lambda proxy=proxy: proxy.swallowed)
                proxy.cut()
                # Whatever it reports first, that ends it.
                while watcher.poll() is None:
                    self.change("set /top/n0000007 x")
                out, err = watcher.communicate(timeout=60)
                self.assertEqual((watcher.returncode, self.text("told")), (0, "/top/n0000007\n"), err)
                self.assertIn(b"\tchanged\t/top/n0000007\t", out)

    def test_with_values_all_that_was_missed_is_told(self):
        self.change("create /top 1", "create /top/gone 2", "create /top/again 3", "create /top/set 4", "create /top/same 5")
        with Proxy(self.server.port) as proxy:
            stream = self.start("watch", "-R", "-d", "-i", "-n", "11", "-o", "json", "/top", server=proxy.address + self.root)
            for _ in range(5):
                self.assertEqual(json.loads(stream.stdout.readline())["type"], "present")
            proxy.swallow()
            self.change("delete /top/gone", "delete /top/again", "create /top/again 6", "set /top/set 7", "create /top/new 8")
            self.wait_until(lambda: proxy.swallowed)
            proxy.cut()
            out, err = stream.communicate(timeout=60)
        told = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([(one["type"], one.get("path"), one.get("old"), one.get("new")) for one in told],
                         [("gap", None, None, None), ("deleted", "/top/gone", "2", None), ("deleted", "/top/again", "3", None),
                          ("created", "/top/again", None, "6"), ("changed", "/top/set", "4", "7"),
                          ("created", "/top/new", None, "8")], err)

    def test_all_watches_end_when_the_session_expires(self):
        self.change("create /top")
        watcher = self.start("--keep-going", "-t", "6000")
        self.send(watcher, b"addWatch /top\nget -w /top\ncreate -e /ready x\n")
        self.wait_node("/ready")
        watcher.send_signal(signal.SIGSTOP)
        self.wait_node("/ready", there=False)
        watcher.send_signal(signal.SIGCONT)
        self.wait_until(lambda: b"expired" in watcher.stderr.readline())
        events, err = self.events_until_end(
            watcher, ["set /top x", "removewatches /top", "addWatch /top", "set /top y"])
        self.assertEqual(events, [("NodeDataChanged", "/top")])
        self.assertIn(b"No such watcher for /top", err)


@needs(3, 6)
class Ends(WatchTest):
    def test_ends_at_once_while_events_pour_in(self):
        self.change("create /top", *(f"create /top/n{i}" for i in range(300)))
        busy = self.start("--keep-going")
        for number, end in enumerate((signal.SIGTERM, signal.SIGINT, None)):
            watcher = self.start()
            reader = Reader(watcher)
            self.send(watcher, f"addWatch /top\ncreate /watched-{number} x\n".encode())
            self.wait_node(f"/watched-{number}")
            self.send(busy, lines(f"set /top/n{i} x" for i in range(300)) * 10)
            self.wait_until(lambda: EVENT.search(reader.out))
            if end:
                watcher.send_signal(end)
            self.close_input(watcher)
            self.assertEqual(watcher.wait(60), 128 + end if end else 0)
            reader.join()


class Reader:
    """Collects what a process prints; it never has to wait for its reader."""

    def __init__(self, process):
        self.out = b""
        self.process = process
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        parts = []
        while data := os.read(self.process.stdout.fileno(), 1 << 16):
            parts.append(data)
            self.out = b"".join(parts)

    def join(self):
        self.thread.join(120)
        return self.out


if __name__ == "__main__":
    unittest.main()
