"""The interactive zksh and its session: interrupted, disconnected, expired, stopped, left."""
import fcntl
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import termios
import unittest

from shell_case import ZKSH, ShellTest, children
from proxy import Proxy


class Interrupted(ShellTest):
    def test_ctrl_c_at_the_prompt_drops_the_line(self):
        screen = self.start()
        self.run_line(screen, "create -e /mine x", 0)
        screen.type("delete /mine")
        self.wait_prompt(screen, 1, typed="delete /mine")
        screen.keys("C-c")
        self.wait_prompt(screen, 1)
        self.assertEqual(screen.lines()[-2], self.prompt(1) + " delete /mine^C")
        self.assertEqual(self.run_line(screen, "get /mine", 1), ["x"])

    def test_ctrl_c_ends_a_command_that_waits_for_a_frozen_server(self):
        screen = self.start("-t", "300000")  # it sends no heartbeat meanwhile
        self.run_line(screen, "create -e /mine x", 0)
        self.server.freeze()
        screen.type("get /mine\n")
        self.wait_running(screen)
        screen.keys("C-c")
        self.wait_prompt(screen, 2)
        self.assertIn(screen.lines()[-2], ("^C", ""))  # with the notice that it waits, if that came first, it goes
        unread = self.server.unread()
        screen.type("set /mine y\n")
        screen.wait_for(lambda _: self.server.unread() > unread)
        screen.keys("C-c")
        self.wait_prompt(screen, 3)
        self.assertEqual(screen.lines()[-2:-1], [
            "interrupted; the request for /mine was sent and may still be done"])
        self.server.thaw()
        self.assertEqual(self.run_line(screen, "get /mine", 3), ["y"])

    def test_ctrl_c_drops_the_pasted_lines_behind_the_command(self):
        screen = self.start()
        self.server.freeze()
        screen.paste("get /\ncreate /never x\ncreate /never2 x\n")
        screen.keys("Enter")
        self.wait_running(screen)
        screen.keys("C-c")
        self.wait_prompt(screen, 1)
        self.server.thaw()
        self.assertEqual(self.run_line(screen, "ls /", 1), ["[]"])

    def test_stopped_and_continued(self):
        screen, _ = self.start_below_sh(job_control=True)
        self.run_line(screen, "create -e /mine x", 0)
        screen.type("get /mi")
        self.wait_prompt(screen, 1, typed="get /mi")
        screen.keys("C-z")
        screen.wait_for("Stopped")
        self.wait_shell(screen)
        screen.type("fg\n")
        self.wait_prompt(screen, 1, typed="get /mi")
        self.assertEqual(self.run_line(screen, "ne", 1), ["x"])

    def test_ctrl_z_where_nobody_could_continue_it(self):
        screen = self.start()
        screen.type("ls ")
        self.wait_prompt(screen, 0, typed="ls")
        screen.keys("C-z")
        self.assertEqual(self.run_line(screen, "/", 0), ["[]"])


class Disconnected(ShellTest):
    def wait_news(self, screen, news, number, state):
        """The news stand above the line that is typed, and its prompt tells of them, whichever comes first."""
        screen.wait_for(lambda s: s.lines()[-1] == self.prompt(number, state) + " get /mi" and
                        re.fullmatch(news, s.lines()[-2]))

    def lost(self):
        server = re.escape(self.server.address)
        return rf"\d\d:\d\d:\d\d connection lost \({server}\); reconnecting"

    def back(self):
        return (rf"\d\d:\d\d:\d\d reconnected to {re.escape(self.server.address)} "
                r"after [0-9.]+m?s, same session")

    def test_connection_lost_and_back(self):
        screen = self.start()
        self.run_line(screen, "create -e /mine x", 0)
        screen.type("get /mi")
        self.server.kill()
        self.wait_news(screen, self.lost(), 1, "CONNECTING")
        screen.keys("C-u")
        self.assertEqual(self.run_line(screen, "get /mine", 1, "CONNECTING"),
                         [f"/mine: no connection to {self.server.address}: Connection refused"])
        screen.type("get /mi")
        self.server.start()
        self.wait_news(screen, self.back(), 2, "CONNECTED")
        self.assertEqual(self.run_line(screen, "ne", 2), ["x"])

    def test_status_without_a_connection(self):
        screen = self.start()
        self.run_line(screen, "create /mine x", 0)
        screen.type("get /mi")
        self.server.kill()
        self.wait_news(screen, self.lost(), 1, "CONNECTING")
        screen.keys("C-u")
        lines = self.run_line(screen, "status", 1, "CONNECTING")
        self.assertEqual(lines[1], f"state     CONNECTING: {self.server.address}: Connection refused")
        self.assertEqual(lines[2], "connected -")
        self.assertEqual(lines[-1], "latency   -")

    def test_one_server_of_a_list(self):
        proxies = {proxy.address: proxy for proxy in (Proxy(self.server.port), Proxy(self.server.port))}
        for proxy in proxies.values():
            self.addCleanup(proxy.close)
        self.connect = ",".join(proxies) + self.root
        screen = self.start("-t", "60000", width=160)
        self.run_line(screen, "ls -w /", 0)
        status = self.run_line(screen, "status", 1)
        first = re.fullmatch(r"connected (\S+)", status[2])[1]
        self.assertIn(first, proxies)
        self.assertIn("watches   1: / (children)", status)
        proxies.pop(first).close()
        second, = proxies
        screen.wait_for(lambda s: f" connection lost ({first}); reconnecting" in s.text())
        screen.wait_for(lambda s: f" reconnected to {second} after " in s.text())
        status = self.run_line(screen, "status", 2)
        self.assertEqual(status[2], f"connected {second}")
        self.assertIn("watches   1: / (children)", status)
        screen.type("create /a\n")
        screen.wait_for(lambda s: " children /\n" in s.text() + "\n")
        self.wait_prompt(screen, 4)
        self.assertIn("watches   none", self.run_line(screen, "status", 4))

    def test_expired_session(self):
        screen, pid = self.start_below_sh("-t", "8000")
        self.run_line(screen, "create -e /mine x", 0)
        os.kill(pid, signal.SIGSTOP)
        self.wait_gone("/mine", 40)
        os.kill(pid, signal.SIGCONT)
        screen.wait_for("session expired; its ephemerals, watches and locks are gone")
        screen.wait_for(lambda s: re.search(
            rf"(?m)^\d\d:\d\d:\d\d new session 0x[0-9a-f]+ on {re.escape(self.server.address)}$", s.text()))
        self.wait_prompt(screen, 1)
        self.assertEqual(self.run_line(screen, "get /mine", 1), ["Node does not exist: /mine"])
        self.run_line(screen, "create -e /mine y", 2)
        self.assertEqual(self.znodes.get(self.root + "/mine"), b"y")

    def test_no_server_at_the_start(self):
        server = "127.0.0.1:1"
        screen = self.start("--connect-timeout", "500ms", server=server)
        screen.wait_for(lambda s: s.lines()[-2:] == [
            "no connection to 127.0.0.1:1: Connection refused",
            self.prompt(0, "CONNECTING", server)])
        screen.type("version\nls /\n")
        self.wait_prompt(screen, 2, "CONNECTING", server=server)
        self.assertEqual(screen.lines()[-2], "no connection to 127.0.0.1:1: Connection refused")
        self.assertEqual(screen.text().count("refused"), 2, screen.text())

    def test_name_that_does_not_resolve(self):
        server = "no-such-host.invalid:1"
        screen = self.start(server=server, width=120)
        problem = f"cannot connect to {server}: the name cannot be resolved"
        screen.wait_for(problem)
        screen.type("ls /\n")
        self.wait_prompt(screen, 1, "CONNECTING", server=server)
        self.assertEqual(screen.text().count(problem), 2, screen.text())
        screen.type(f"connect {self.connect}\n")
        self.wait_prompt(screen, 2)


class Left(ShellTest):
    def test_ctrl_d_and_quit(self):
        for keys in (["C-d"], ["q", "u", "i", "t", "Enter"]):
            screen = self.start()
            self.run_line(screen, "create -e /mine x", 0)
            screen.keys(*keys)
            self.wait_exit(screen, 0)
            self.wait_gone("/mine")

    def test_status_is_that_of_the_last_command(self):
        screen = self.start()
        self.run_line(screen, "get /none", 0)
        screen.keys("C-d")
        self.wait_exit(screen, 4)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            screen = self.start()
            self.run_line(screen, "create -e /mine x", 0)
            screen.type("half a line")
            os.kill(screen.pid(), number)
            self.wait_exit(screen, 128 + number)
            self.wait_gone("/mine")

    def test_signal_while_a_command_waits(self):
        screen = self.start()
        self.server.freeze()
        screen.type("get /\n")
        self.wait_running(screen)
        os.kill(screen.pid(), signal.SIGTERM)
        self.wait_exit(screen, 128 + signal.SIGTERM)

    def test_closed_terminal(self):
        screen = self.start()
        self.run_line(screen, "create -e /mine x", 0)
        screen.type("half a line")
        screen.close()
        self.wait_gone("/mine")

    def test_signal_while_the_terminal_takes_no_output(self):
        screen, pid = self.start_below_sh()
        self.run_line(screen, "create -e /mine x", 0)
        terminal = os.open(f"/proc/{pid}/fd/0", os.O_RDWR | os.O_NOCTTY)
        self.addCleanup(os.close, terminal)
        termios.tcflow(terminal, termios.TCOOFF)

        def keys_are_left_unread(s):
            s.type("x")
            unread = fcntl.ioctl(terminal, termios.FIONREAD, b"    ")
            return int.from_bytes(unread, sys.byteorder) > 0
        screen.wait_for(keys_are_left_unread)
        os.kill(pid, signal.SIGTERM)
        self.wait_gone("/mine")
        self.wait_exit(screen, 128 + signal.SIGTERM)

    def test_terminal_is_as_it_was(self):
        screen = self.shell_screen("")
        for end in ("quit", "TERM", "ABRT"):
            screen.type(f"clear; stty -g >{self.directory}/before; {ZKSH} -s {self.connect}; "
                        f"stty -g >{self.directory}/after; echo over\n")
            self.wait_prompt(screen, 0)
            if end == "quit":
                screen.type("quit\n")
            else:
                (zksh,) = children(screen.pid())
                os.kill(zksh, getattr(signal, "SIG" + end))
            screen.wait_for(lambda s: "over" in s.lines())
            self.assertEqual(self.text("before"), self.text("after"), end)
            screen.paste("echo plain\n")  # tmux brackets it if that is still on
            screen.wait_for(lambda s: "plain" in s.lines())


class Sandboxed(ShellTest):
    @classmethod
    def setUpClass(cls):  # its servers are zksh's own
        cls.server = None

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-shell-"))
        self.servers = self.file("servers")
        os.mkdir(self.servers)

    def test_servers_fail_on_demand_and_are_gone_afterwards(self):
        screen = self.screen_of([ZKSH, "--sandbox"], TMPDIR=self.servers)
        screen.wait_for("(CONNECTED) 0]", timeout=60)
        self.connect = screen.lines()[-1].split()[1].split("(")[0]
        self.assertIn(f"sandbox: 1 private server at {self.connect}", screen.lines()[0])

        number = itertools.count()

        def run(line, state="CONNECTED"):
            return self.run_line(screen, line, next(number), state)

        def state():
            return [line.split()[2:] for line in screen.lines() if line.startswith("1       127.")][-1]

        def serves(_):
            """A server that does not answer soon counts as starting, and is asked again."""
            run("sandbox")
            return state() == ["serving", "standalone"]
        screen.wait_for(serves)
        run("create /kept x")
        run("sandbox freeze 1")
        self.assertEqual(state(), ["frozen", "-"])
        run("sandbox thaw 1")
        screen.wait_for(serves)
        run("sandbox stop 1", "CONNECTING")
        self.assertEqual(state(), ["stopped", "-"])
        run("sandbox start 1")
        self.assertEqual(run("get /kept")[-1:], ["x"])  # the news may come after the prompt that shows it
        self.assertNotEqual(os.listdir(self.servers), [])
        screen.keys("C-d")
        self.wait_exit(screen, 0)
        self.assertEqual(os.listdir(self.servers), [])
        self.assertNotEqual(subprocess.run(["pgrep", "-f", self.servers], check=False,
                                           stdout=subprocess.DEVNULL).returncode, 0)


if __name__ == "__main__":
    unittest.main()
