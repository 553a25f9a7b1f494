"""Servers that answer wrongly, late, or not at all: a clear error in bounded time, and never a false success."""
import concurrent.futures
import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from session_case import ZKSH
from broken_server import STAT, BrokenServer
from waiting import readable
from znodes import pack_string

OTHER = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>no</html>" * 3
SHORT = {"timeout": 600}  # of a session, in ms: how long the C client waits for an answer
HUGE = struct.pack(">i", 2**31 - 1)
FOREIGN = "it does not speak the ZooKeeper protocol"
LENGTH = "an answer with an invalid length"
EARLY = "a truncated answer"
NO_REQUEST = "an invalid answer"
NO_EVENT = "an invalid event"


def header(xid, code=0):
    return struct.pack(">iqi", xid, 1, code)


# Expired (-112): only the C client itself says so.
SESSION_EVENT = header(-1) + struct.pack(">ii", -1, -112) + pack_string("")


def asked(then, **how):
    """Greets, reads one request, and does something with it."""
    return lambda c: (c.greet(**(how or SHORT)), c.request(), then(c))


def told(then):
    """The same, where the client is to find fault with what comes before it gives up."""
    return asked(then, timeout=30000)


# No session comes about.
WITHOUT_SESSION = {
    "it is silent": (lambda c: c.stay(), ""),
    "it closes at once": (lambda c: None, ""),
    "it closes behind the greeting": (lambda c: c.hello(), ""),
    "half a greeting, and it closes": (lambda c: (c.hello(), c.send(c.welcome()[:20])), ""),
    "half a greeting": (lambda c: (c.hello(), c.send(c.welcome()[:20]), c.stay()), ""),
    "a greeting byte by byte, too slowly": (lambda c: (c.hello(), [c.drip(b"\0") for _ in range(9)], c.stay()), FOREIGN),
    "another protocol": (lambda c: (c.hello(), c.send(OTHER)), FOREIGN),
    "another protocol, which stays": (lambda c: (c.hello(), c.send(OTHER), c.stay()), FOREIGN),
    "ones": (lambda c: (c.hello(), c.send(b"\xff" * 500), c.stay()), FOREIGN),
    "zeros": (lambda c: (c.hello(), c.send(b"\0" * 500), c.stay()), FOREIGN),
    "a greeting of 2 GiB": (lambda c: (c.hello(), c.send(HUGE + c.welcome()[4:]), c.stay()), FOREIGN),
    "no time for the session": (lambda c: (c.greet(timeout=0), c.serve()), FOREIGN),
    "less than no time": (lambda c: (c.greet(timeout=-5), c.serve()), FOREIGN),
}
# A session, and the request is read. A write may have been done then.
WITH_SESSION = {
    "it closes": (asked(lambda c: None), ""),
    "it is silent": (asked(lambda c: c.stay()), ""),
    "half an answer, and it closes": (asked(lambda c: c.send(c.answer()[:10])), ""),
    "half an answer": (asked(lambda c: (c.send(c.answer()[:10]), c.stay())), ""),
    "a length of 2 GiB": (told(lambda c: (c.send(HUGE), c.stay())), LENGTH),
    "a length of 2 GiB, and data": (told(lambda c: (c.send(HUGE + b"x" * (20 << 20)), c.stay())), LENGTH),
    "a negative length": (told(lambda c: (c.send(struct.pack(">i", -5)), c.stay())), LENGTH),
    "no length": (told(lambda c: (c.send(struct.pack(">i", 0)), c.stay())), LENGTH),
    "garbage": (told(lambda c: (c.send(OTHER), c.stay())), LENGTH),
    "another request's answer": (told(lambda c: (c.send_frame(header(c.xid + 7) + b"\0" * 99), c.stay())),
                                 "an answer out of order"),
    "a number that no request has": (told(lambda c: (c.send_frame(header(-3)), c.stay())), NO_REQUEST),
    "a low number": (told(lambda c: (c.send_frame(header(-2**30)), c.stay())), NO_REQUEST),
    "the session's end as an event": (told(lambda c: (c.send_frame(SESSION_EVENT), c.stay())), NO_EVENT),
    "nothing behind the header": (told(lambda c: (c.send_frame(header(c.xid)), c.stay())), EARLY),
    "lengths of 2 GiB within": (told(lambda c: (c.send_frame(header(c.xid) + HUGE * 3), c.stay())), EARLY),
    "negative lengths within": (told(lambda c: (c.send_frame(header(c.xid) + b"\xff\xff\xff\xf0" * 3), c.stay())), EARLY),
}
AUTH_FAILED = -115


def chatter(body):
    """Greets, and then sends the same frame again and again, whatever is asked."""
    def behave(c):
        c.greet(timeout=1500)
        while True:
            if readable(c.link, 0.1) and not c.link.recv(65536):
                return
            c.send_frame(body)
    return behave


def drip_an_answer(c):
    """So slowly that it would take a day."""
    c.send(struct.pack(">i", 1 << 20) + header(c.xid))
    while not readable(c.link, 0.1):
        c.send(b"x")


def drip_kilobytes(c):
    """More than a kilobyte in the session timeout, and yet so slowly that it would take minutes."""
    c.send(struct.pack(">i", 1 << 20) + header(c.xid))
    while not readable(c.link, 0.1):
        c.send(b"x" * 150)


EVENT = header(-1) + struct.pack(">ii", 3, 3) + pack_string("/zz")


def pour_events(c):
    """As fast as they are taken."""
    many = (struct.pack(">i", len(EVENT)) + EVENT) * 5000
    while True:
        c.send(many)


def answer_pings(c):
    c.greet(timeout=1500)
    while True:
        c.request()


# Something comes, but no answer: it would be waited for without an end.
UNANSWERED = {
    "pings' answers": answer_pings,
    "events": chatter(EVENT),
    "events, without a pause": asked(pour_events, timeout=1500),
    "the answer, too slowly": asked(drip_an_answer, timeout=1500),
    "the answer, a kilobyte a second": asked(drip_kilobytes, timeout=1500),
}
READS = ["get /a", "ls /a"]
WRITES = ["create /a x", "set /a x", "multi 'create /a x' 'create /a/b x'"]


def with_status(wanted):
    """What BrokenServers.patient waits for; so does the next."""
    return lambda status, _out, _err: status == wanted


def says(why):
    return lambda _status, _out, err: why in err


class BrokenServers(unittest.TestCase):
    maxDiff = None
    program = [ZKSH]
    tls = None  # the servers'

    def zksh(self, behave, *words, text=b"", connect_timeout="3s"):
        """Status, what was said, and the server's address, whose place there takes the word SERVER."""
        with BrokenServer(behave, self.tls) as server:
            begin = time.monotonic()
            done = subprocess.run([*self.program, "-s", server.address, "-t", "1000", "--connect-timeout", connect_timeout, *words],
                                  input=text, capture_output=True, timeout=60, check=False)
            self.assertLess(time.monotonic() - begin, 40)
            return done.returncode, *(s.decode(errors="replace").replace(server.address, "SERVER") for s in (done.stdout, done.stderr))

    def patient(self, behave, is_told, *words, **how):
        """As zksh. On a busy machine the time limit may come before what the server sends: then there is more time."""
        done = self.zksh(behave, *words, **how)
        return done if is_told(*done) else self.zksh(behave, *words, **{**how, "connect_timeout": "15s"})

    def all_of(self, cases, check):
        """Calls check for each case, several at a time: most of it is waiting."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs = {case: pool.submit(check, *case) for case in cases}
        for case, job in jobs.items():
            with self.subTest(case=case):
                job.result()

    def check_refused(self, behave, why, line):
        self.check_error(why, *self.patient(behave, says(why), "-c", line))

    def check_unknown(self, behave, *words, **how):
        """What was sent may have been done."""
        status, out, err = self.patient(behave, with_status(10), *words, **how)
        self.assertEqual((status, out), (10, ""), err)
        return err

    def check_error(self, why, status, out, err):
        self.assertEqual((status, out), (3, ""), err)
        self.assertIn("no connection to SERVER: ", err)
        self.assertIn(why, err)

    def test_no_session(self):
        def check(name, line):
            behave, why = WITHOUT_SESSION[name]
            self.check_error(why, *self.patient(behave, says(why), "-c", line, connect_timeout="2s"))
        lines = [READS[0], WRITES[0], "lock -n /l"]
        self.all_of([(name, line) for name in WITHOUT_SESSION for line in lines], check)

    def test_reads(self):
        self.all_of([(*WITH_SESSION[name], line) for name in WITH_SESSION for line in READS], self.check_refused)

    def test_writes(self):
        """What was sent may have been done, and that is said."""
        def check(name, line):
            err = self.check_unknown(WITH_SESSION[name][0], "-c", line)
            self.assertRegex(err, "outcome unknown|either all 2 operations were applied or none")
        self.all_of([(name, line) for name in WITH_SESSION for line in WRITES], check)

    def test_locks_are_not_held(self):
        def check(name):
            status, out, err = self.zksh(WITH_SESSION[name][0], "lock", "-w", "500ms", "/l", "--", "echo", "held")
            self.assertEqual((status, out), (3, ""), err)
            self.assertIn("no connection to SERVER: ", err)
        self.all_of([("it closes",), ("half an answer",), ("a length of 2 GiB",), ("negative lengths within",)], check)

    def test_an_unknown_operation_ends_the_connection(self):
        """As ClickHouse Keeper and ZooKeeper 3.4 do it. Nothing that came with 3.5 is sent there."""
        sent = []

        def keeper(c):
            c.greet(timeout=30000)
            while True:
                body = c.request()
                sent.append(c.operation)
                if c.operation not in (1, 3, 4, 5, 8, 12, 14, -11):
                    return
                c.send(c.answer(-101 if b"/zookeeper/config" in body else 0))
        for line, status, err in (
                ("create /a x", 0, "Created /a"), ("create -e /a x", 0, "Created /a"), ("touch /b", 0, ""),
                ("create -c /c", 12, "ZooKeeper 3.5 or later is required for containers, but this server is older, or does not tell its version (srvr)"),
                ("create -t 9000 /c", 12, "ZooKeeper 3.5 or later is required for nodes with a TTL"),
                ("config", 12, "ZooKeeper 3.5 or later is required for the ensemble's configuration"),
                ("reconfig -remove 1", 12, "ZooKeeper 3.5 or later is required for reconfig"),
                ("get -w /a; removewatches /a", 0, "")):
            with self.subTest(line=line):
                sent.clear()
                result = self.patient(keeper, with_status(status), "-c", line)
                self.assertEqual((status, False), (result[0], "lost" in result[2]), result)
                self.assertIn(err, result[2])
                self.assertTrue(set(sent) <= {1, 3, 4, 5, 8, 12, 14, -11}, sent)

    def test_what_nobody_asked_for(self):
        event = header(-1) + struct.pack(">ii", 3, 3)
        unasked = "a request that was not sent"

        def check(body, why):
            status, out, err = self.patient(lambda c: (c.greet(timeout=30000), c.send_frame(body), c.stay()),
                                            lambda _status, _out, err: re.search(why, err), "-c", READS[0])
            self.assertEqual((status, out), (3, ""), err)
            self.assertRegex(err, why)
        self.all_of([(header(5), unasked + "|out of order"), (header(-2), unasked), (header(-4), unasked), (header(-8), unasked),
                     (event, EARLY), (event + HUGE, EARLY), (b"\0" * 15, LENGTH), (header(-3), NO_REQUEST), (SESSION_EVENT, NO_EVENT)],
                    check)
        # An event is in order at any time.
        said = self.zksh(lambda c: (c.greet(**SHORT), c.send_frame(event + pack_string("/a")), c.serve()), "-c", READS[0],
                         connect_timeout="10s")
        self.assertEqual(said[:2], (0, "x\n"), said)

    def test_a_credential_that_gets_no_answer(self):
        """Pings are answered, so that the session lasts."""
        unanswered = "the server has not answered within the session timeout (1.5s)"
        status, out, err = self.patient(answer_pings, says(unanswered), "-c", "addauth digest ann:secret")
        self.assertEqual((status, out), (3, ""), err)
        self.assertIn(unanswered, err)

    def test_what_is_never_answered_is_given_up(self):
        def check(name, line):
            if line in WRITES:
                self.assertIn("/a", self.check_unknown(UNANSWERED[name], "-c", line))
            else:  # the C client may be first with others than events
                why = "; a request was not answered in time" if name.startswith("events") else ""
                self.check_refused(UNANSWERED[name], why, line)
        self.all_of([(name, line) for name in UNANSWERED for line in READS + WRITES], check)

    def test_an_interrupt_while_events_pour_in(self):
        pours = threading.Event()

        def behave(c):
            c.greet(timeout=60000)
            c.request()
            for _ in range(100):  # more than all buffers take
                c.send((struct.pack(">i", len(EVENT)) + EVENT) * 5000)
            pours.set()
            pour_events(c)
        with BrokenServer(behave, self.tls) as server, \
                subprocess.Popen([*self.program, "-s", server.address, "-t", "60s", "get", "/a"], stderr=subprocess.PIPE) as process:
            self.assertTrue(pours.wait(60))
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertLess(time.monotonic() - begin, 15)  # the session lasts for 60

    def test_another_server_is_served_while_events_pour_in(self):
        def of_version(behave):
            def behaves(c):
                if c.peek(4) == b"srvr":
                    c.send(b"Zookeeper version: 3.8.0-pouring\nMode: standalone\n")
                    return c.end()
                c.greet(timeout=60000)
                return behave(c)
            return behaves
        with BrokenServer(of_version(pour_events), self.tls) as pouring, BrokenServer(of_version(lambda c: c.serve()), self.tls) as good:
            done = subprocess.run([*self.program, "-s", f"{pouring.address},{good.address}", "latency", "-t", "10s", "-n", "2", "-o", "json"],
                                  capture_output=True, timeout=60, check=False)
        errors = {member["server"]: member["error"] for member in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(errors, {pouring.address: "no answer within 10s", good.address: None})

    def test_a_length_alone_takes_no_memory(self):
        def behave(c):
            c.greet(timeout=1500)
            c.request()
            c.send(struct.pack(">i", 2**29 - 1) + header(c.xid) + b"x" * 100_000)
            c.stay()
        with BrokenServer(behave, self.tls) as server:
            with subprocess.Popen([*self.program, "-s", server.address, "-t", "1000", "get", "/a"], stderr=subprocess.PIPE) as process:
                process.stderr.read()
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 3)
        self.assertLess(used.ru_maxrss, 100 << 10)

    def test_a_refusal_that_nobody_asked_for(self):
        """It would be the end of the session, and of all that is unanswered: a write that was done would count as refused."""
        refusal = header(-4, AUTH_FAILED)
        for line in READS:
            self.check_refused(told(lambda c: (c.send_frame(refusal), c.stay())), "a request that was not sent", line)
        for line in WRITES:
            self.check_unknown(told(lambda c: (c.send_frame(refusal), c.stay())), "-c", line)

    def test_a_refused_credential(self):
        """Reads and writes fail alike, whoever hears of it first."""
        def behave(c):
            c.greet()
            while True:
                c.request()
                if c.xid == -4:
                    c.send_frame(header(-4, AUTH_FAILED))
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("digest ann:secret\n")
            file.flush()

            def check(line, _):
                status, out, err = self.patient(behave, with_status(7), "--auth-file", file.name, "-c", line)
                self.assertEqual((status, out), (7, ""), err)
            self.all_of([(line, i) for line in READS + WRITES for i in range(8)], check)

    def test_a_slow_server_is_waited_for(self):
        def drip(c):
            c.hello()
            c.drip(c.welcome(timeout=20000))
            while True:
                c.request()
                c.drip(c.answer())
        self.assertEqual(self.zksh(drip, "-c", "create /a x\nget /a", connect_timeout="20s")[:2], (0, "x\n"))

    def test_a_request_arrives_as_a_whole(self):
        """The C client sends a request's length by itself, and a server would be woken for it alone."""
        if self.tls:
            self.skipTest("TLS makes records of its own")
        requests, packets = [], []

        def serve(c):
            c.greet(timeout=20000)
            while True:
                requests.append(c.request())
                c.send(c.answer())
                # tcpi_data_segs_in of struct tcp_info
                packets.append(struct.unpack_from("I", c.link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160), 152)[0])

        status, out, err = self.zksh(serve, "-c", "get /a;" * 40, connect_timeout="20s")
        self.assertEqual((status, out), (0, "x\n" * 40), err)
        # An acknowledgement that arrives in between sends what has been held back.
        self.assertLess(packets[-1], 1.5 * (1 + len(requests)))

    def test_a_member_that_does_not_say_whether_it_takes_writes(self):
        """A read-only server's clients ask the others. One that is frozen must not hold up the session."""
        asked_it = threading.Event()

        def read_only(c):
            first = c.read(4)
            if first == b"isro":
                asked_it.set()
                c.stay()
            c.read(struct.unpack(">i", first)[0])
            c.send(c.welcome(timeout=6000)[:-1] + b"\1")
            c.serve()

        with BrokenServer(read_only, self.tls) as server, \
                subprocess.Popen([*self.program, "-s", server.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True) as shell:
            try:
                shell.stdin.write("get /a\n")
                shell.stdin.flush()
                self.assertTrue(asked_it.wait(60))
                out, _ = shell.communicate("get /a\nget /a\n", timeout=60)
            finally:
                shell.kill()
        self.assertEqual((0, 3), (shell.returncode, out.count("x\n")))

    def test_a_member_that_takes_writes_is_moved_to(self):
        """A session at a read-only server leaves it for one that says that it takes writes."""
        is_there, moved = threading.Event(), threading.Event()

        def read_only(c):
            first = c.read(4)
            if first == b"isro":
                c.send(b"ro")
                return
            c.read(struct.unpack(">i", first)[0])
            c.send(c.welcome(timeout=6000)[:-1] + b"\1")
            is_there.set()
            c.serve()

        def writable(c):
            first = c.read(4)
            if first == b"isro":
                c.send(b"rw")
                c.end()
            elif is_there.is_set():  # else the session begins there
                c.read(struct.unpack(">i", first)[0])
                c.send(c.welcome(timeout=6000))
                moved.set()
                c.serve()

        with BrokenServer(read_only, self.tls) as one, BrokenServer(writable, self.tls) as other, \
                subprocess.Popen([*self.program, "-r", "-s", f"{one.address},{other.address}"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as shell:
            try:
                shell.stdin.write("get /a\n")
                shell.stdin.flush()
                self.assertTrue(moved.wait(60))
                out, _ = shell.communicate("get /a\n", timeout=60)
            finally:
                shell.kill()
        self.assertEqual((0, 2), (shell.returncode, out.count("x\n")))

    def test_codes_of_no_known_kind(self):
        status, out, err = self.zksh(told(lambda c: (c.send(c.answer(code=-9999)), c.serve())), "-c", READS[0],
                                     connect_timeout="20s")
        self.assertEqual((status, out, err), (12, "", "KeeperErrorCode = Unknown error -9999 for /a\n"))

    def test_piped(self):
        def check(name):
            lines = b"create /a x\nset /a y\ncreate /b x\n"
            self.check_unknown(WITH_SESSION[name][0], "--pipe", text=lines)
        self.all_of([(name,) for name in WITH_SESSION], check)
        status, out, err = self.zksh(lambda c: c.stay(), "--pipe", text=b"create /a x\n")
        self.assertEqual((status, out), (3, ""), err)

    def test_a_large_value_takes_twice_its_size(self):
        size = 100 << 20

        def behave(c):
            c.greet(timeout=30000)
            while True:
                c.request()
                if c.operation != 4:
                    c.send(c.answer())
                    continue
                body = header(c.xid) + struct.pack(">i", size)
                c.send(struct.pack(">i", len(body) + size + len(STAT)) + body)
                for _ in range(size >> 20):
                    c.send(b"x" * (1 << 20))
                c.send(STAT)
        with BrokenServer(behave, self.tls) as server, tempfile.TemporaryFile() as out:
            with subprocess.Popen([*self.program, "-s", server.address, "get", "/a"], stdout=out) as process:
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual((process.returncode, out.seek(0, os.SEEK_END)), (0, size + 1))
        self.assertLess(used.ru_maxrss << 10, 2 * size + (50 << 20))

    def test_a_name_that_no_node_has(self):
        """It would lead a walk to where it came from, without an end."""
        for name in ("", "/", "a/b", "../a"):
            def behave(c, body=struct.pack(">i", 1) + pack_string(name) + STAT):
                c.greet(timeout=30000)
                while True:
                    c.request()
                    c.send_frame(header(c.xid) + body)
            self.check_refused(behave, "an answer with an invalid node name", "ls /")

    def test_four_letter_words(self):
        behaviours = {"silent": lambda c: c.stay(), "closes": lambda c: None, "asked, it closes": lambda c: c.read(4),
                      "another protocol": lambda c: (c.read(4), c.send(OTHER)),
                      "bytes": lambda c: (c.read(4), c.send(bytes(range(256)) * 50)),
                      "drips": lambda c: (c.peek(4), [c.drip(b"zk_version\t3.") for _ in range(400)]),
                      "endless": lambda c: [c.send(b"x" * (1 << 20)) for _ in range(1 << 20)]}
        commands = {("health", "-t", "300ms"): {3}, ("4lw", "srvr", "-t", "3s"): {0, 3}, ("who", "-t", "300ms"): {1, 3},
                    ("latency", "-t", "300ms", "-n", "2"): {1, 3}}

        def check(name, words):
            is_answered = words[0] == "4lw" and name in ("another protocol", "bytes")
            status, out, err = self.zksh(behaviours[name], *words[:-1], "20s" if is_answered else words[-1])
            self.assertIn(status, commands[words], out + err)
            if is_answered and not self.tls:
                self.assertEqual((status, err), (0, ""), "the answer is shown as it is")
            elif is_answered:  # TLS says that the end is missing
                self.assertIn("the connection broke in the middle of its answer", err)
            else:
                self.assertNotEqual(status, 0)
                self.assertIn("SERVER", out + err)
        self.all_of([(name, words) for name in behaviours for words in commands], check)

    def test_an_answer_that_came_while_zksh_was_stopped(self):
        """Beyond the time limit: zksh may look late, but the answer is not."""
        is_asked, is_over = threading.Event(), threading.Event()

        def answer(c):
            c.read(4)
            is_asked.set()
            is_over.wait(30)
            c.send(b"imok")
            c.end()
        with BrokenServer(answer, self.tls) as server, \
                subprocess.Popen([*self.program, "-s", server.address, "4lw", "ruok", "-t", "2s"], stdout=subprocess.PIPE) as process:
            self.assertTrue(is_asked.wait(30))
            process.send_signal(signal.SIGSTOP)
            is_over.set()
            self.assertFalse(readable(process.stdout, 2.1))
            process.send_signal(signal.SIGCONT)
            self.assertEqual(process.stdout.read(), b"imok\n")

    @classmethod
    def tearDownClass(cls):
        # Of an endless answer 64 MiB are kept, of each word; but not the 2 GiB that a length promises.
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        assert most < 1 << 20, f"a child took {most} KiB"


if __name__ == "__main__":
    unittest.main()
