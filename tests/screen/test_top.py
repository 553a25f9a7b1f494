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

    def pictures(self, screen):
        return sum(line.startswith("server  ") for line in screen.lines(history=True))

    def test_in_its_place(self):
        screen = self.start(width=120, height=24)
        screen.type("top -i 200ms\n")
        screen.wait_for("requests/s")
        screen.wait_for(f"{self.root}/worker-")

        def is_told(s):
            self.clients[7].get(self.root)
            busiest = next((line for line in s.lines() if line.startswith("127.0.0.1") and "worker" in line), "")
            return "worker-7-" in busiest and " GETD " in busiest
        screen.wait_for(is_told)
        self.assertEqual(1, self.pictures(screen))
        screen.keys("C-c")
        self.wait_prompt(screen, 1)

    def test_a_narrow_screen(self):
        screen = self.start(width=44, height=12)
        screen.type("top -i 200ms -n 5\n")
        self.wait_prompt(screen, 1)
        self.assertEqual(1, self.pictures(screen))
        self.assertEqual(screen.lines(), screen.lines(joined=True), "no line is wrapped")
        self.assertRegex(screen.text(), r"(?m)^client +requests/s +ephemeral$")


if __name__ == "__main__":
    unittest.main()
