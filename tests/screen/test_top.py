"""top: redrawn in place, as wide and as high as the screen; Ctrl-C returns to the prompt."""
import unittest

from shell_case import ShellTest
from znodes import Znodes

EPHEMERAL = 1


class LiveTop(ShellTest):
    def setUp(self):
        super().setUp()
        self.clients = [Znodes(self.server.address) for _ in range(30)]
        for number, znodes in enumerate(self.clients):
            self.addCleanup(znodes.connection.close)
            znodes.create(f"{self.root}/worker-{number}-with-a-name-that-is-longer-than-a-narrow-screen", b"", EPHEMERAL)

    def assert_one_picture(self, screen):
        lines = screen.lines(history=True)
        self.assertEqual(1, sum(line.startswith("server  ") for line in lines), "\n".join(lines))

    def test_in_its_place(self):
        screen = self.start(width=120, height=24)
        screen.type("top -i 200ms -t 60s\n")
        screen.wait_for("requests/s")
        screen.wait_for(f"{self.root}/worker-")

        def is_told(s):
            self.clients[7].get(self.root)
            busiest = next((line for line in s.lines() if line.startswith("127.0.0.1") and "worker" in line), "")
            return "worker-7-" in busiest and " GETD " in busiest
        screen.wait_for(is_told)
        self.assert_one_picture(screen)
        screen.keys("C-c")
        self.wait_prompt(screen, 1)

    def test_q_ends_it_and_no_key_is_echoed(self):
        screen = self.start(width=120, height=24)
        screen.type("top -i 60s -t 60s\n")
        screen.wait_for(lambda s: s.lines()[-1] == "q ends it")
        screen.type("hj\n")
        screen.resize(100, 20)

        def is_redrawn(s):
            lines = s.lines()
            return (len(lines) == 19 and lines[-1] == "q ends it" and lines[0].startswith("server  ") and
                    sum("server  " in line[:8] for line in lines) == 1)
        screen.wait_for(is_redrawn)
        self.assertFalse(any(line.startswith(("h", "j")) for line in screen.lines()), screen.text())
        screen.type("q")
        self.wait_prompt(screen, 1)
        self.assertNotIn("q ends it", screen.text())
        self.assertEqual(self.run_line(screen, "echo back", 1), ["back"])

    def test_the_background_has_no_keys(self):
        """Ctrl-Z gives the terminal to the prompt, with its echo."""
        screen = self.start(width=120, height=24)
        screen.type("top -i 60s -t 60s\n")
        screen.wait_for("requests/s")
        screen.keys("C-z")
        self.wait_prompt(screen, 1)
        self.assertEqual(self.run_line(screen, "echo quick", 1), ["quick"])
        screen.type("kill %1\n")
        screen.wait_for("killed")

    def test_a_narrow_screen(self):
        screen = self.start(width=44, height=12)
        screen.type("top -i 200ms -t 60s -n 5\n")
        self.wait_prompt(screen, 1)
        self.assert_one_picture(screen)
        self.assertEqual(screen.lines(), screen.lines(joined=True), "no line is wrapped")
        self.assertRegex(screen.text(), r"(?m)^client +requests/s +ephemeral$")


if __name__ == "__main__":
    unittest.main()
