"""The line editor and its terminal: pastes, lines typed ahead, stops, crashes, dumb terminals."""
import os
import signal
import unittest

from editor_case import DRIVER, EditorTest
from running_processes import children
from waiting import wait_until


class Input(EditorTest):
    def test_pasted_lines_are_held_and_edited_until_enter(self):
        screen = self.start()
        screen.type("get ")
        screen.paste("/a\nset /ü 'x'\n/rest\n\n")
        self.wait_screen(["zk 0> get /a", "> set /ü 'x'", "> /rest"], (7, 2))
        screen.type("ed")
        screen.keys("Up", "C-e", *["Left"] * 7)  # C-e goes to the end of all
        self.wait_screen(["zk 0> get /a", "> set /ü 'x'", "> /rested"], (2, 2))
        screen.keys("Up", "BSpace")
        self.wait_screen(["zk 0> get /aset /ü 'x'", "> /rested"], (12, 0))
        screen.type(";")
        self.assertEqual(self.accepted(), [])
        self.order("print an event")
        self.wait_screen(["an event", "zk 0> get /a;set /ü 'x'", "> /rested"], (13, 1))
        screen.keys("Enter")
        self.wait_accepted("get /a;set /ü 'x'", "/rested")
        screen.wait_for("zk 1>")
        screen.keys("Up")
        screen.wait_for(lambda s: s.lines()[-2:] == ["zk 1> get /a;set /ü 'x'", "> /rested"])

    def test_interrupt_drops_a_paste(self):
        screen = self.start()
        screen.paste("one\ntwo\nthree\n")
        self.wait_screen(["zk 0> one", "> two", "> three"])
        screen.keys("C-c")
        self.wait_screen(["zk 0> one", "> two", "> three^C", "zk 0>"], (6, 3))
        screen.type("last\n")
        self.wait_accepted("last")

    def test_many_pasted_lines(self):
        screen = self.start(60)
        lines = [f"set /node/{i} 'value {i}'" for i in range(1000)]
        screen.paste("\n".join(lines) + "\n")
        screen.wait_for(lambda s: s.lines()[-1] == "> " + lines[-1], timeout=60)
        self.assertEqual(self.accepted(), [])
        screen.keys("Enter")
        screen.wait_for("zk 1>", timeout=60)
        self.assertEqual(self.accepted(), lines)

    def test_lines_typed_ahead_without_brackets(self):
        screen = self.start()
        screen.paste("one\nread\nfor the reader\ntwo\n", bracketed=False)
        screen.wait_for("zk 3>")
        self.assertEqual(self.accepted(), ["one", "read", "two"])
        self.assertIn("read: for the reader", screen.text())

    def test_a_paste_is_text_not_keys(self):
        screen = self.start()
        screen.paste("a\tb\x01\x04c")
        screen.keys("Enter")
        self.wait_accepted("a\tb\x01\x04c")

    def test_paste_into_a_search_ends_up_in_it(self):
        screen = self.start()
        screen.type("first\n")
        screen.wait_for("zk 1>")
        screen.keys("C-r")
        screen.wait_for("i-search")
        screen.paste("irs")
        screen.wait_for("first")
        screen.keys("C-g")
        screen.type("x\n")
        self.wait_accepted("first", "x")

    def paste_huge(self, size, bracketed):
        screen = self.start()
        screen.paste("x" * size + "\n", bracketed)
        if bracketed:
            screen.keys("Enter")
        screen.wait_for(lambda _: os.path.getsize(self.log) == size + 1, timeout=120)
        screen.wait_for("zk 1>")
        screen.type("quit\n")
        screen.wait_for(lambda s: s.exit_status() == 0)

    def test_pasted_line_of_10_mb(self):
        self.paste_huge(10_000_000, bracketed=True)

    def test_typed_line_of_2_mb(self):
        self.paste_huge(2_000_000, bracketed=False)


class Terminals(EditorTest):
    def shell(self, **how):
        """The driver under a shell, which shows the terminal's modes before and after."""
        script = 'stty -g; "$0" "$@"; echo "status $?"; stty -g; printf "%s" done; cat'
        screen = self.start(command=["sh", "-c", script, os.path.abspath(DRIVER), self.fifo,
                                     self.log], **how)
        screen.wait_for("zk 0>")
        return screen

    def check_restored(self, screen, status):
        screen.wait_for("done")
        lines = screen.lines()
        self.assertIn(f"status {status}", lines)
        modes = [line for line in lines if line.count(":") > 10]
        self.assertEqual(len(modes), 2, lines)
        self.assertEqual(modes[0], modes[1])
        # No brackets any more.
        screen.paste("pasted")
        screen.wait_for(lambda s: s.lines()[-1].endswith("pasted"))
        self.assertTrue(screen.lines()[-1].endswith("donepasted"), screen.lines())

    def test_restored_after_quit(self):
        screen = self.shell(width=140)
        screen.type("quit\n")
        self.check_restored(screen, 0)

    def test_restored_after_end_of_input(self):
        screen = self.shell(width=140)
        screen.keys("C-d")
        self.check_restored(screen, 0)

    def test_restored_when_told_to_end_while_typing(self):
        screen = self.shell(width=140)
        screen.type("some text")
        screen.wait_for("zk 0> some text")  # what it has not read is echoed behind it
        self.order("end")
        self.check_restored(screen, 0)

    def test_restored_after_abort(self):
        screen = self.shell(width=140)
        screen.type("abort\n")
        self.check_restored(screen, 128 + signal.SIGABRT)

    def test_restored_after_a_crash_while_typing(self):
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL):
            with self.subTest(number):
                screen = self.shell(width=140)
                screen.type("some text")
                screen.wait_for("some text")
                (driver,) = children(screen.pid())
                os.kill(driver, number)
                self.check_restored(screen, 128 + number)
                screen.close()

    def test_stopped_and_continued(self):
        screen = self.start(command=["bash", "--norc", "--noprofile", "-i"], width=60,
                            env={"PS1": "sh$ "})
        screen.wait_for("sh$")
        screen.type(f"clear; {os.path.abspath(DRIVER)} {self.fifo} {self.log}\n")
        screen.wait_for("zk 0>")
        screen.type("abcdef")
        screen.keys("Left", "Left")
        screen.wait_for(lambda s: s.cursor()[0] == 10)
        screen.keys("C-z")
        screen.wait_for("Stopped")
        screen.type("echo in the shell\n")
        screen.wait_for(lambda s: "in the shell" in s.lines())
        screen.type("fg\n")
        screen.wait_for(lambda s: s.lines()[-1] == "zk 0> abcdef" and s.cursor()[0] == 10)
        screen.type("X\n")
        self.wait_accepted("abcdXef")

    def test_dumb_terminal_gets_no_escape_sequences(self):
        for term in ("dumb", ""):
            with self.subTest(term=term):
                open(self.log, "w").close()
                raw = os.path.join(self.directory, "raw")
                driver = f"exec {os.path.abspath(DRIVER)} {self.fifo} {self.log}"
                screen = self.start(40, command=["env", f"TERM={term}", "SHELL=/bin/sh", "script",
                                                 "-qc", driver, raw])
                screen.wait_for("zk 0>")
                screen.type("get /größe 日本語 abcdefghijklmnopqrstuvwxyz end")
                screen.wait_for("xyz end")
                self.order("print an event")
                screen.wait_for(lambda s: s.lines()[0] == "an event" and s.lines()[-1].endswith("xyz end"))
                self.assertEqual(len(screen.lines()), 2)
                screen.keys("C-a")
                screen.type("X")
                screen.wait_for(lambda s: s.lines()[1].startswith("zk 0> Xget /größe"))
                screen.keys("Enter")
                self.wait_accepted("Xget /größe 日本語 abcdefghijklmnopqrstuvwxyz end")
                screen.wait_for(lambda s: s.lines()[-1] == "zk 1>" and s.cursor()[0] == 6)
                screen.keys("C-d")
                screen.wait_for(lambda s: s.exit_status() is not None)
                with open(raw, "rb") as file:
                    self.assertNotIn(b"\033", file.read())
                screen.close()

    def test_a_locale_that_is_not_utf8(self):
        for locale in ({"LC_ALL": "C"}, {"LC_ALL": "", "LANG": "", "LC_CTYPE": ""}):
            with self.subTest(locale):
                open(self.log, "w").close()
                screen = self.start(40, env=locale)
                screen.type("ä日本")
                self.wait_line("ä日本", 40, "ä日本")
                screen.keys("Left", "BSpace", "Enter")
                self.wait_accepted("ä本")
                screen.wait_for("ä本")  # as it was typed, also after Enter
                screen.close()

    def test_terminal_that_goes_away(self):
        screen = self.start()
        screen.type("rm /important")
        screen.wait_for("important")
        screen.close()
        wait_until(self.accepted)
        self.assertEqual(self.accepted(), ["EOF"])


if __name__ == "__main__":
    unittest.main()
