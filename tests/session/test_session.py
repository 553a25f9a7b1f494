"""Connecting, and losing the connection: one-shot commands and scripts against real servers."""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest

from session_case import LONG, NOT_SERVING, ZKSH, SessionTest, environment
from proxy import Proxy
from server import four_letter_word, server_version
from terminal import Terminal


class Connecting(SessionTest):
    def test_a_refused_auth_file_is_named(self):
        path = self.file("auth", "nosuch ann:hidden\n")
        status, out, err = self.run_zksh("--auth-file", path, "ls", "/")
        # The server hangs up behind its refusal, which may be lost by that, or come before the command begins.
        self.assertIn(status, (3, 7))
        self.assertEqual(out, "")
        self.assertIn("scheme", err)
        self.assertIn(f"the auth file {path}", err)
        self.assertNotIn("ann", err)

    def test_a_refused_addauth_does_not_blame_the_auth_file(self):
        path = self.file("auth", "digest ann:kept\ndigest bob:kept\n")
        status, out, err = self.run_zksh("--auth-file", path, "-c", "ls /; addauth nosuch x:y")
        self.assertEqual((status, out), (7, ""))
        self.assertNotIn(path, err)

    def test_credentials_are_in_force_however_many_servers_are_dead(self):
        path = self.file("auth", "digest ann:hidden\n")
        servers = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3," + self.connect
        for number in range(30):
            status, out, err = self.run_zksh(
                "--auth-file", path, "-c", f"create /n{number} x auth:ann:crdwa; whoami", server=servers)
            self.assertEqual((status, err), (0, f"Created /n{number}\n"))
            self.assertIn("digest: ann", out)

    def test_a_configuration_file_that_cannot_be_seen_is_not_there(self):
        """HOME of a service that has dropped its privileges; root sees everything."""
        program = shutil.copy(ZKSH, self.file("zksh"))
        os.chmod(program, 0o755)
        os.chmod(self.directory, 0o755)
        self.file("home/.config/zksh/config", "nonsense = 1\n", 0)
        home = self.file("home")
        user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}

        def status_and_error(mode):
            os.chmod(home, mode)
            done = subprocess.run([program, "-s", self.connect, "ls", "/"], env=environment(home, XDG_CONFIG_HOME=""),
                                  capture_output=True, text=True, timeout=60, check=False, **user)
            return done.returncode, done.stderr
        self.assertEqual(status_and_error(0), (0, ""))
        self.assertEqual(status_and_error(0o755), (
            2, f"zksh: cannot read {home}/.config/zksh/config: Permission denied\n"))

    def test_what_the_system_refuses_is_told_with_its_remedy(self):
        for files in range(8, 40):
            status, _, err = self.run_zksh("-c", "watch -i -n 1 -x true /; ls / | cat",
                                           preexec_fn=lambda most=files: resource.setrlimit(
                                               resource.RLIMIT_NOFILE, (most, most)))
            if status == 0:
                break
            self.assertEqual(status, 1, err)
            self.assertIn("ulimit -n", err)
        else:
            self.fail("no limit is high enough")
        self.assertGreater(files, 8, "no limit was met")

    def test_no_memory_for_threads(self):
        """A second session's threads: the C client would end the process."""
        seen = set()
        for room in range(36, 120, 4):
            status, _, err = self.run_zksh("lock", "/memory", "--", "true", preexec_fn=lambda most=room << 20: resource.setrlimit(
                resource.RLIMIT_AS, (most, most)))
            seen.add(status)
            if status == 0:
                break
            self.assertEqual(status, 1, err)
            self.assertRegex(err, "ulimit -v|memory")
        self.assertEqual(seen, {0, 1})

    def test_an_idle_session_sends_more_than_pings(self):
        """A lock that is asked for after a while is safe at once by what the session has sent before."""
        self.start_with("create /idle x", "-t", "4000")

        def idle_reads():
            lines = four_letter_word(self.server.port, "cons").splitlines()
            return sum("lop=EXIS" in line and ",to=4000," in line for line in lines)

        self.wait_until(idle_reads)

    def sessions(self):
        """Of any client, by the server's tracker."""
        tracked = four_letter_word(self.server.port, "dump").split("ephemeral nodes")[0]
        return set(re.findall(r"^\t(0x\w+)", tracked, re.M))

    def test_no_session_is_left_to_its_timeout(self):
        """Not one that was still being opened, either: the words of a command are looked at meanwhile."""
        before = self.sessions()
        for words, status in ((["get", "/"], 0), (["get"], 2), (["-c", "stat /; stat"], 2)):
            for _ in range(20):
                self.assertEqual(self.run_zksh("-t", "60000", *words)[0], status)
        # The server may have answered the last one before it has forgotten the session.
        self.wait_until(lambda: self.sessions() <= before)

    def assert_unreachable(self, server, problem, *options):
        for command in (["get", "/a"], ["create", "/a", "x"], ["-c", "get /a"]):
            self.assertEqual(
                self.run_zksh("--connect-timeout", "300ms", *options, *command, server=server),
                (3, "", problem + "\n"))

    def test_refused(self):
        self.assert_unreachable("127.0.0.1:1,127.0.0.1:2/chroot",
                                "no connection to 127.0.0.1:1, 127.0.0.1:2: Connection refused")

    def test_port_of_something_else(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = "127.0.0.1:%d" % listener.getsockname()[1]
            self.assert_unreachable(address, f"no connection to {address}: {NOT_SERVING}")

    def test_dead_first_hosts(self):
        for dead in ("127.0.0.1:1", "127.0.0.1:1,[::1]:1", "no-such-host.invalid:1"):
            self.assertEqual(self.run_zksh("ls", "/", server=f"{dead},{self.connect}"),
                             (0, "[]\n", ""))

    def test_ipv6(self):
        for host in ("[::1]", "[0:0:0:0:0:0:0:1]"):
            server = f"{host}:{self.server.port}{self.root}"
            self.assertEqual(self.run_zksh("ls", "/", server=server), (0, "[]\n", ""))
        self.assert_unreachable("[::1]:1", "no connection to [::1]:1: Connection refused")

    def test_chroot(self):
        self.assertEqual(self.run_zksh("create", "/a", "x")[0], 0)
        self.assertEqual(self.znodes.get(self.root + "/a"), b"x")
        self.assertEqual(self.run_zksh("get", "/", server=self.connect + "/a"), (0, "x\n", ""))


class Waiting(SessionTest):
    """What a terminal shows while the first connection is waited for, in the bytes that it gets."""

    def silent_server(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        return "127.0.0.1:%d" % listener.getsockname()[1]

    def terminal(self, *words, server, term="xterm", **more):
        environment = {**os.environ, "HOME": self.directory, "XDG_CONFIG_HOME": self.directory,
                       "XDG_STATE_HOME": self.directory, "TERM": term, "NO_COLOR": "1", "ZKSH_PAGER": "cat", **more}
        return Terminal([ZKSH, "-s", server, *words], environment)

    @staticmethod
    def notice(server, least=1):
        """A pattern for the notice. On a busy machine some seconds are never shown."""
        return rf"waiting for {re.escape(server)}, (?:[{least}-9]|\d\d+)s \(Ctrl-C ends\)"

    def test_it_is_said_and_taken_away(self):
        server = self.silent_server() + "," + self.silent_server()
        with self.terminal("--connect-timeout", "4s", "get", "/x", server=server) as terminal:
            shown = terminal.finish().decode()
        self.assertRegex(shown, "^" + self.notice(server) + r"\r\x1b\[K")
        self.assertIn("\r\x1b[Kno connection to ", shown)
        self.assertTrue(shown.endswith("\n"), shown)

    def test_it_goes_when_the_server_answers(self):
        self.server.freeze()
        with self.terminal("--connect-timeout", "60s", "-c", "ls /", server=self.connect) as terminal:
            terminal.read_until(self.notice(self.connect, 2).encode())
            self.server.thaw()
            shown = terminal.finish().decode()
        self.assertTrue(shown.endswith("s (Ctrl-C ends)\r\x1b[K[]\n"), shown)

    def test_at_the_prompt_too(self):
        with self.terminal("-t", "30s", server=self.connect) as terminal:
            terminal.read_until(rb"CONNECTED[)] 0\] ")
            self.server.freeze()
            terminal.type("ls /\r")
            terminal.read_until(self.notice(self.server.address, 2).encode())
            self.server.thaw()
            terminal.read_until(rb"s [(]Ctrl-C ends[)]\r\x1b\[K")
            terminal.read_until(rb"CONNECTED[)] 1\] ")
            terminal.type("\x04")
            terminal.finish()

    def test_it_is_gone_before_a_program_writes(self):
        for number in range(60):
            self.znodes.create(f"{self.root}/{number}")
        programs = {"ZKSH_PAGER": "sed s/^/=/", "EDITOR": "echo edits"}
        with self.terminal("-t", "30s", server=self.connect, **programs) as terminal:
            terminal.read_until(rb"CONNECTED[)] 0\] ")
            for command, written in ("ls -R /", b"="), ("edit /", b"edits "):
                self.server.freeze()
                begin = len(terminal.bytes)
                terminal.type(command + "\r")
                terminal.read_until(self.notice(self.server.address, 2).encode(), begin)
                self.server.thaw()
                prompt = terminal.read_until(rb"CONNECTED[)] \d+\] ", terminal.read_until(written, begin))
                self.assertIn(b"s (Ctrl-C ends)\r\x1b[K" + written, terminal.bytes[begin:prompt])
            terminal.type("\x04")
            terminal.finish()

    def test_it_is_gone_before_a_pipe_is_written_to(self):
        self.znodes.set(self.root, b"x")
        self.server.freeze()
        command = f"'{ZKSH}' -s {self.connect} --connect-timeout 60s -c 'get /; wait --gone --timeout 1s /' | cat"
        with Terminal(["sh", "-c", command], {**os.environ, "HOME": self.directory, "TERM": "xterm"}) as terminal:
            terminal.read_until(self.notice(self.connect, 2).encode())
            self.server.thaw()
            self.assertIn("s (Ctrl-C ends)\r\x1b[Kx\n", terminal.finish().decode())

    def test_answers_that_come_slowly_without_any_output(self):
        with Proxy(self.server.port, delay=0.15) as far:
            with self.terminal("latency", "-n", "20", server=far.address) as terminal:
                terminal.read_until(self.notice(far.address, 2).encode())

    def test_a_freeze_is_told_at_an_idle_prompt(self):
        with self.terminal("-t", "4s", server=self.connect) as terminal:
            terminal.read_until(rb"CONNECTED[)] 0\] ")
            self.server.freeze()
            terminal.read_until(rb"connection lost .*; reconnecting")
            self.server.thaw()
            terminal.read_until(rb"CONNECTED[)] 0\] ")
            terminal.type("\x04")
            terminal.finish()

    def test_interrupted(self):
        server = self.silent_server()
        with self.terminal("--connect-timeout", "60s", "get", "/x", server=server) as terminal:
            terminal.read_until(b"ends[)]")
            terminal.type("\x03")
            shown = terminal.finish().decode()
        self.assertEqual(terminal.process.returncode, 130)
        self.assertEqual(shown.rpartition("ends)")[2], "\r\x1b[K", shown)

    def test_a_terminal_that_cannot_take_it_away(self):
        server = self.silent_server()
        with self.terminal("--connect-timeout", "4s", "get", "/x", server=server, term="dumb") as terminal:
            self.assertRegex(terminal.finish().decode(), self.notice(server) + r"\nno connection to ")

    def test_not_when_it_is_asked_to_be_quiet_or_needs_no_connection(self):
        server = self.silent_server()
        with self.terminal("--connect-timeout", "2s", "lock", "-q", "/l", "true", server=server) as terminal:
            self.assertNotIn("waiting for", terminal.finish().decode())
        with self.terminal("-c", "help get", server=server) as terminal:
            self.assertNotIn("waiting for", terminal.finish().decode())


class Lost(SessionTest):
    def lose_answer(self, command):
        """The request reaches the server, its answer is kept back, the connection is cut."""
        with Proxy(self.server.port) as proxy:
            process = self.start_with("create /ready x", "--keep-going",
                                      server=proxy.address + self.root)
            proxy.swallow()
            self.send(process, command + b"\ncreate -e /marker x\n")
            yield proxy
            out, err = process.communicate(timeout=60)
            yield process.returncode, out.decode(), err.decode()

    def test_write_whose_answer_is_lost(self):
        self.znodes.create(self.root + "/a", b"old")
        steps = self.lose_answer(b"set /a new")
        proxy = next(steps)
        self.wait_until(lambda: self.znodes.get(self.root + "/a") == b"new")
        proxy.cut()
        status, out, err = next(steps)
        self.assertEqual((status, out), (10, ""))
        self.assertIn("outcome unknown: the connection was lost after the request was sent, so it "
                      "may have been applied; check the node with `stat /a`", err)
        # The session is the same: the next command did what it should.
        self.assertIn("Created /marker\n", err)
        next(steps, None)

    def test_write_that_a_frozen_server_never_saw(self):
        name = "a" * LONG
        self.znodes.create(f"{self.root}/{name}", b"old")
        process = self.start_with("create /ready x", "--keep-going", "-t", "60000")
        self.server.freeze()
        process.stdin.write(f"delete /{name}\n".encode())
        self.close_input(process)
        self.wait_until(self.request_is_unread)
        self.server.kill()
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 10, err)
        self.assertIn(b"outcome unknown", err)
        self.assertNotIn(b"Node does not exist", err)

    def test_read_whose_answer_is_lost(self):
        """Whatever reads is asked again, and prints what it would have printed."""
        self.assertEqual(self.run_zksh("-c", "create /a x; create /a/b y")[0], 0)
        quotas = f"/zookeeper/quota{self.root}/a".encode()
        above = self.server.address
        self.assertEqual(self.run_zksh("setquota", "-n", "9", self.root + "/a", server=above)[0], 0)
        inside = self.root + "/a"
        commands = {
            f"get {inside}": inside, f"get -w {inside}": inside, f"ls {inside}": inside, f"stat {inside}": inside,
            f"getAcl {inside}": inside, f"exists {inside}": inside, f"sync {inside}": inside, f"ls -R {inside}": inside,
            f"count {inside}": inside, f"watch -i -n 1 {inside}": inside,
            f"listquota {inside}": quotas.decode(), f"cp {inside} {self.root}/c0": inside,
            f"cp -r {inside} {self.root}/c1": inside + "/b",
        }
        if server_version() >= (3, 5):
            commands["config"] = "/zookeeper/config"
        if server_version() >= (3, 6):
            commands |= {f"addWatch {inside}": inside, f"watch -R -i -n 2 {inside}": inside + "/b"}
        for command, sign in commands.items():
            for how in (("-c", command), ()):
                with self.subTest(command, how=how), Proxy(self.server.port) as proxy:
                    plain = self.run_zksh(*how, text=b"" if how else command.encode(), server=above)
                    self.run_zksh("-c", f"deleteall {self.root}/c?; true", server=above)
                    proxy.swallow_after(sign.encode())
                    process = self.start(*how, server=proxy.address)
                    self.send(process, b"" if how else command.encode() + b"\n")
                    self.close_input(process)
                    self.wait_until(lambda proxy=proxy: proxy.swallowed)
                    proxy.cut()
                    out, err = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, 0, err)
                    self.assertEqual(re.sub(r"\d\d:\d\d:\d\d\S*", "", out.decode()),
                                     re.sub(r"\d\d:\d\d:\d\d\S*", "", plain[1]))
                    self.run_zksh("-c", f"deleteall {self.root}/c?; true", server=above)

    def test_transaction_whose_answer_is_lost(self):
        steps = self.lose_answer(b"multi 'create /a new' 'create /b new'")
        proxy = next(steps)
        self.wait_node("/b")
        proxy.cut()
        status, out, err = next(steps)
        self.assertEqual((status, out), (10, ""))
        # What becomes of the connection is said at the same time, and so anywhere between.
        said = "".join(line for line in err.splitlines(True) if "connect" not in line or "answer" in line)
        self.assertIn("  1. create /a new: unknown\n  2. create /b new: unknown\n"
                      "the connection was lost before the answer arrived: either all 2 operations were "
                      "applied or none; check /a\n", said)

    def test_session_expires_in_a_script(self):
        process = self.start_with("create -e /mine x", "-t", "6000")
        process.send_signal(signal.SIGSTOP)
        self.wait_node("/mine", there=False)
        process.send_signal(signal.SIGCONT)
        self.wait_until(lambda: b"expired" in process.stderr.readline())
        out, err = process.communicate(b"get /mine\ncreate -e /mine y\nget /mine\n", timeout=60)
        self.assertEqual((process.returncode, out), (4, b"y\n"))
        self.assertRegex(err.decode(), "^\\d\\d:\\d\\d:\\d\\d new session 0x[0-9a-f]+ on "
                         f"{re.escape(self.server.address)}\nNode does not exist: /mine\nCreated /mine\n$")
        self.wait_gone("/mine")

    def test_server_that_comes_back(self):
        process = self.start_with("create -e /mine x", "--connect-timeout", "60s")
        self.server.kill()
        clock = r"\d\d:\d\d:\d\d"
        server = re.escape(self.server.address)
        self.assertRegex(process.stderr.readline().decode(),
                         f"^{clock} connection lost \\({server}\\); reconnecting\n$")
        self.server.start()
        self.assertRegex(process.stderr.readline().decode(),
                         f"^{clock} reconnected to {server} after [0-9.]+m?s, same session\n$")
        out, err = process.communicate(b"get /mine\n", timeout=60)
        self.assertEqual((process.returncode, out, err), (0, b"x\n", b""))

    def test_connection_that_is_lost_again_and_again(self):
        """It is reported until it is too much, and then no more."""
        with Proxy(self.server.port) as proxy, open(self.file("err"), "w+b") as err:
            process = self.start(server=proxy.address + self.root, bufsize=0, stderr=err)
            process.stdin.write(b"create /n\n")
            self.wait_node("/n")

            def notes():
                # Not those about a `set` whose answer was cut off.
                news = [line.partition(" ")[2] for line in self.text("err").splitlines()]
                return [note for note in news if note.startswith(("connect", "reconnect"))]

            times = []

            def lose(number):
                connections = len(proxy.first_bytes)
                times.append(time.monotonic())
                proxy.cut()
                self.wait_until(lambda: len(proxy.first_bytes) > connections)
                process.stdin.write(f"set /n {number}\n".encode())
                self.wait_until(lambda: self.znodes.get(self.root + "/n") == f"{number}".encode())

            number = 0
            while not any("times" in note for note in notes()):
                self.assertLess(number, 50)
                lose(number)
                number += 1
            *before, last = notes()
            for i, note in enumerate(before):
                self.assertIn("reconnected to " if i % 2 else "connection lost (", note)
            self.assertGreaterEqual(len(before), 8)
            self.assertEqual(last, f"connection lost 5 times within 10s ({proxy.address}); "
                             "reconnecting, without further messages")
            lose(number)
            process.communicate(b"get /n\n", timeout=60)
            if times[-1] - times[-5] < 9:  # else they have become few
                self.assertEqual(notes(), [*before, last])


class Output(SessionTest):
    def test_stdout_that_nobody_reads_for_longer_than_the_session_timeout(self):
        self.znodes.create(self.root + "/big", b"x" * 900_000)
        process = self.start("-t", "12s", "-c", "create -e /mine x" + "; get /big" * 10)
        self.wait_node("/mine")
        # Another session of the same length, without heartbeats, shows that the time has passed.
        idle = self.start_with("create -e /idle x", "-t", "12s")
        idle.send_signal(signal.SIGSTOP)
        self.wait_node("/idle", there=False)
        idle.send_signal(signal.SIGCONT)
        self.assertTrue(self.znodes.exists(self.root + "/mine"))
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, len(out), err), (0, 10 * 900_001, b"Created /mine\n"))

    def test_reader_that_goes_away(self):
        self.znodes.create(self.root + "/big", b"x" * 900_000)
        process = self.start("-c", "create -e /mine x" + "; get /big" * 20)
        self.wait_node("/mine")
        process.stdout.read(1)
        process.stdout.close()
        self.wait_until(lambda: process.poll() is not None)
        self.assertEqual((process.returncode, process.stderr.read()), (141, b"Created /mine\n"))
        self.wait_gone("/mine")
        process.stdout = None

    def test_signal_while_nobody_reads(self):
        self.znodes.create(self.root + "/big", b"x" * 900_000)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("-c", "create -e /mine x" + "; get /big" * 20)
            self.wait_node("/mine")
            process.stdout.read(1)
            process.send_signal(number)
            self.wait_until(lambda p=process: p.poll() is not None)
            self.assertEqual(process.returncode, 128 + number)
            self.wait_gone("/mine")


class Signals(SessionTest):
    def test_script_that_waits(self):
        unhandled = {signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
        spared = {signal.SIGCHLD, signal.SIGCONT, signal.SIGPIPE, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
                  signal.SIGURG, signal.SIGWINCH}
        for number in sorted(signal.valid_signals() - unhandled - spared):
            process = self.start_with("create -e /mine x")
            process.send_signal(number)
            self.wait_until(lambda p=process: p.poll() is not None)
            self.assertEqual((process.returncode, process.stderr.read()), (128 + number, b""))
            self.wait_gone("/mine")

    def test_one_that_comes_more_than_once(self):
        """As from timeout(1), which sends it to the process and to its group."""
        process = self.start_with("create /ready x")
        self.server.freeze()
        self.send(process, b"set /ready " + b"y" * LONG + b"\n")
        self.wait_until(self.request_is_unread)
        for _ in range(100):
            process.send_signal(signal.SIGTERM)
        self.wait_until(lambda: process.poll() is not None)
        self.assertEqual((process.returncode, process.stderr.read()), (
            143, b"interrupted; the request for /ready was sent and may still be done\n"))

    def test_command_that_waits_for_a_frozen_server(self):
        process = self.start_with("create /ready x")
        self.server.freeze()
        self.send(process, b"set /ready " + b"y" * LONG + b"\n")
        self.wait_until(self.request_is_unread)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.wait_until(lambda: process.poll() is not None)
        self.assertLess(time.monotonic() - begin, 15)  # the session lasts for 30
        self.assertEqual((process.returncode, process.stderr.read()), (
            130, b"interrupted; the request for /ready was sent and may still be done\n"))


if __name__ == "__main__":
    unittest.main()
