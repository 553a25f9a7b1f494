"""zksh --pipe: the same results as without it, in order; failures with their lines; lost connections, Ctrl-C, slow input."""
import json
import os
import re
import signal
import time
import unittest

from session_case import SessionTest
from proxy import Proxy

SILENT = ("-t", "600000")  # of its own accord it asks nothing for a minute

MIXED = """create /p value
create -s /p/s- one
ls /p
# a comment

get /p
get -s /p/s-0000000000
set /p 'two words'
get /p
stat /p/s-0000000000
create -e /p/e
getAcl /p
setAcl /p world:anyone:cdrwa
sync /p
ls -s /p
pwd
multi
create /p/m x
check -v 1 /p
exec
check /p/m
set -s /p/m y
ls -R /p
delete /p/e
delete -v 1 /p/m
deleteall /p
ls /
"""


def unstable_masked(text):
    """Without zxids and dates, which differ from run to run."""
    return re.sub(r"((?:[cmp]Zxid|[cm]time|ephemeralOwner) = ).*", r"\1", text).splitlines()


class Pipe(SessionTest):
    def test_the_same_as_without_it(self):
        for how in ((), ("--window", "1"), ("-o", "plain")):
            for text in (MIXED, MIXED.rstrip("\n")):
                with self.subTest(how=how):
                    alone = self.run_zksh(*how[-2:] if "-o" in how else (), text=text.encode())
                    piped = self.run_zksh("--pipe", *how, text=text.encode())
                    self.assertEqual(alone[0], 0, alone[2])
                    self.assertEqual(piped[0], 0, piped[2])
                    self.assertEqual(unstable_masked(piped[1]), unstable_masked(alone[1]))
                    self.assertEqual(piped[2], alone[2] + "25 ok, 0 failed\n")

    def test_quiet_leaves_out_the_tally(self):
        self.assertEqual(self.run_zksh("--pipe", "-q", text=b"create /q value\nget /q\n"),
                         (0, "value\n", "Created /q\n"))
        status, out, err = self.run_zksh("--pipe", "-q", "-o", "json", text=b"get /nope\n")
        self.assertEqual((status, out), (4, ""))
        self.assertEqual([json.loads(line)["code"] for line in err.splitlines()], ["NoNode"])

    def test_many_lines_in_order(self):
        lines = ["create /n"] + [line for i in range(2000) for line in (f"set /n {i}", "get /n")]
        self.assertEqual(self.run_zksh("--pipe", text="\n".join(lines).encode()),
                         (0, "".join(f"{i}\n" for i in range(2000)), "Created /n\n4001 ok, 0 failed\n"))

    def test_failures_name_their_lines_and_stop_nothing(self):
        text = b'create /a x\nget /none\n\nget\nset -v 7 /a y\nqqqqqq\nget "\ncreate /a\nremovewatches /a\nget /a\n'
        status, out, err = self.run_zksh("--pipe", text=text)
        self.assertEqual((status, out), (4, "x\n"))
        self.assertEqual(err.splitlines(), [
            "Created /a",
            "stdin:2: Node does not exist: /none",
            "stdin:4: get: too few arguments: path expected", "usage: get [-s] [-h] [-w] [-b] [-x] [--raw] [--decode compression] path…",
            "stdin:5: version No is not valid : /a",
            "stdin:6: unknown command: qqqqqq; `help` lists all commands",
            "stdin:7: unclosed quote", '  get "', "      ^",
            "stdin:8: Node already exists: /a",
            "stdin:9: failed (status 1)" if "stdin:9: failed" in err else err.splitlines()[-2],
            "2 ok, 7 failed"])

    def test_json_tells_the_line(self):
        status, out, err = self.run_zksh("--pipe", "-o", "json", text=b"ls /\nget /none\n")
        self.assertEqual((status, out), (4, '{"path":"/","children":[]}\n'))
        self.assertEqual(err, '{"error":"Node does not exist: /none","code":"NoNode","path":"/none",'
                              '"command":"get","status":4,"source":"stdin","line":2}\n{"ok":1,"failed":1}\n')

    def test_a_file_is_a_script(self):
        value = self.script("from a file", name="value")
        script = self.script(f"create /a @{value}", "get /a | tr a-z A-Z", "get /b", "quit", "get /a")
        self.assertEqual(self.run_zksh("--pipe", "-f", script),
                         (4, "FROM A FILE\n\n", f"Created /a\n{script}:3: Node does not exist: /b\n3 ok, 1 failed\n"))

    def test_results_come_while_the_input_stays_open(self):
        zksh = self.start("--pipe")
        for value in (b"one", b"two"):
            self.send(zksh, b"create /a %s\nget /a\ndelete /a\nget /" % value)
            self.assertEqual(zksh.stderr.readline(), b"Created /a\n")
            self.assertEqual(zksh.stdout.readline(), value + b"\n")
            self.send(zksh, b"\n")
            self.assertEqual(zksh.stdout.readline(), b"\n")
        self.assertEqual(zksh.communicate()[1], b"8 ok, 0 failed\n")

    def test_rate(self):
        begin = time.monotonic()
        status, out, _ = self.run_zksh("--pipe", "--rate", "50", text=b"pwd\nls /\n" * 20)
        self.assertEqual((status, out), (0, "/\n[]\n" * 20))
        self.assertGreater(time.monotonic() - begin, 39 / 50)

    def test_usage(self):
        for arguments, complaint in (
                (("--pipe", "-c", "ls /"), "--pipe reads its commands from standard input or one file (-f)"),
                (("--pipe", "ls", "/"), "--pipe reads its commands from standard input or one file (-f)"),
                (("--window", "5", "ls", "/"), "--window requires --pipe"),
                (("--pipe", "--window", "0"), "--window")):
            with self.subTest(arguments=arguments):
                status, _, err = self.run_zksh(*arguments)
                self.assertEqual(status, 2)
                self.assertIn(complaint, err)

    def test_no_server(self):
        with Proxy(self.server.port) as proxy:
            gone = proxy.address
        status, out, err = self.run_zksh("--pipe", "--connect-timeout", "300ms", text=b"ls /\nls /\n", server=gone)
        self.assertEqual((status, out), (3, ""))
        self.assertRegex(err, r"^stdin:1: no connection to .*\nstdin:1: stopped: no connection; "
                              r"the rest was not sent\n0 ok, 1 failed\n$")

    def lose(self, proxy, first, lines, made=None):
        """Sends lines, of a request each, whose answers are lost with the connection; status, stdout and stderr. `made`:
        a node that they create, for what a server has not read yet is lost with the connection, too."""
        zksh = self.start(*SILENT, "--pipe", server=proxy.address + self.root)
        self.send(zksh, first + b"\n")
        self.assertTrue(zksh.stderr.readline().startswith(b"Created"))
        proxy.swallow()
        asked = proxy.asked
        self.send(zksh, lines)
        self.wait_until(lambda: proxy.asked >= asked + lines.count(b"\n"))
        if made:
            self.wait_node(made)
        proxy.cut()
        out, err = zksh.communicate(timeout=60)
        return zksh.returncode, out.decode(), err.decode()

    def test_a_lost_connection(self):
        with Proxy(self.server.port) as proxy:
            status, out, err = self.lose(proxy, b"create /a x", b"get /a\ncreate /b\nget /a\nls /\n", "/b")
        self.assertEqual(status, 10)
        self.assertEqual(out, "x\nx\n[a, b]\n")
        self.assertIn("stdin:3: KeeperErrorCode = ConnectionLoss for /b\noutcome unknown: ", err)
        self.assertTrue(err.endswith("4 ok, 1 failed\n"), err)

    def test_a_read_is_not_asked_again_behind_a_write_of_the_same_node(self):
        with Proxy(self.server.port) as proxy:
            status, out, err = self.lose(proxy, b"create /a x", b"get /a\nls /\nset /a y\n")
        self.assertEqual((status, out), (3, ""))
        for line in ("stdin:2: the connection was lost before the answer arrived; not retried, since line 4, which was "
                     "sent after it, may have changed /a",
                     "stdin:3: the connection was lost before the answer arrived; not retried, since line 4",
                     "stdin:4: KeeperErrorCode = ConnectionLoss for /a"):
            self.assertIn(line, err)

    def interrupted(self, lines, requests):
        """Status, stderr and seconds from Ctrl-C to the end of a zksh whose lines a server does not answer; so many
        requests are under way by then."""
        with Proxy(self.server.port) as proxy:
            zksh = self.start(*SILENT, "--pipe", server=proxy.address + self.root)
            self.send(zksh, b"create /a x\n")
            self.assertEqual(zksh.stderr.readline(), b"Created /a\n")
            proxy.swallow()
            asked = proxy.asked
            self.send(zksh, lines)
            self.wait_until(lambda: proxy.asked >= asked + requests)
            begin = time.monotonic()
            zksh.send_signal(signal.SIGINT)
            err = zksh.communicate(timeout=60)[1].decode()
        return zksh.returncode, err, time.monotonic() - begin

    def test_ctrl_c(self):
        status, err, seconds = self.interrupted(b"get /a\nset /a y\n" * 1000, 2)
        self.assertLess(seconds, 15)  # the session lasts for 30
        self.assertEqual(status, 130)
        self.assertRegex(err, r"stdin:2: interrupted; from here on, \d+ writes were sent but not answered, and "
                              r"may still be applied\nstdin:\d+: nothing from this line on was run\n1 ok, 0 failed\n$")

    def test_ctrl_c_among_reads(self):
        self.assertEqual(self.interrupted(b"get /a\n" * 10, 10)[:2],
                         (130, "stdin:2: interrupted; every write from here on was answered\n"
                               "stdin:12: nothing from this line on was run\n1 ok, 0 failed\n"))

    def test_a_reader_that_dies(self):
        """However much was printed and answered by then, the first line that was not run is named."""
        for number in range(10):
            script = self.script(f"create /r{number} x", *[f"set /r{number} {i}\nget /r{number}" for i in range(20000)])
            zksh = self.start("--pipe", "-f", script)
            zksh.stdout.read(1 + 300 * number)
            zksh.stdout.close()
            zksh.stdout = None
            err = zksh.communicate(timeout=60)[1].decode()
            self.assertEqual(zksh.returncode, 141, err)
            self.assertRegex(err, rf"(?m)^{re.escape(script)}:\d+: nothing from this line on was run\n\d+ ok, \d+ failed\n\Z")
            first = int(re.search(r":(\d+): nothing", err)[1])
            last = int(self.znodes.get(f"{self.root}/r{number}") or b"0")  # of `set`, which is line 2 * last + 2
            self.assertLess(2 * last + 2, first, err)

    def test_memory_is_bounded(self):
        zksh = self.start("--pipe", stdout=self.enterContext(open(os.devnull, "wb")))
        for _ in range(100):
            self.send(zksh, (b"sync " + b"/x" * 5000 + b"\n") * 100)
        with open(f"/proc/{zksh.pid}/status", encoding="ascii") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        self.assertLess(peak, 64 << 10)
        self.assertEqual(zksh.communicate()[1], b"10000 ok, 0 failed\n")


if __name__ == "__main__":
    unittest.main()
