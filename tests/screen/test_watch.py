"""watch at the prompt: live events, a gap with what was missed, and Ctrl-C returns to the prompt."""
import os
import re
import unittest

from shell_case import ShellTest


class WatchAtThePrompt(ShellTest):
    def ended_with(self, screen, number, *ends):
        screen.wait_for(lambda s: sum(line.endswith(ends) for line in s.lines()) == number)

    def test_interrupt_keeps_the_session(self):
        screen = self.start()
        self.run_line(screen, "create -e /mine 1", 0)
        screen.type("watch -i /mine /later\n")
        screen.wait_for("watching 2 nodes; press Ctrl-C to stop")
        screen.wait_for(lambda s: re.search(r"present  /mine  version 0  \(ephemeral of 0x[0-9a-f]+\)", s.text()))
        self.znodes.create(self.root + "/later", b"\x1b[2J")
        self.ended_with(screen, 1, "created  /later  version 0")
        screen.keys("C-c")
        self.wait_prompt(screen, 2)
        self.assertEqual(self.run_line(screen, "ls /", 2), ["later  mine*"])

    def test_goes_on_after_a_gap(self):
        screen = self.start("-t", "60000")
        self.run_line(screen, "create /a 1", 0)
        screen.type("watch -d -i /a\n")
        self.ended_with(screen, 1, 'present  /a  version 0  "1"')
        self.server.kill()
        screen.wait_for("connection lost (")
        self.server.start()
        self.connect_znodes()
        self.ended_with(screen, 1, "missed changes follow, if any")
        self.znodes.set(self.root + "/a", b"2")
        self.ended_with(screen, 1, '"1" → "2"')
        screen.keys("C-c")
        self.wait_prompt(screen, 2)

    def test_a_watch_beside_a_lock_that_waits_reports_the_end(self):
        """The lock watches the same node, and takes its own watch away when it gives up."""
        holder = "/l/_c_00000000-0000-4000-8000-000000000001-lock-0000000000"
        # What the herd watches is the list of the lock's node.
        for recipe, watched in (("fair", holder), ("fair", "/l"), ("herd", "/l")):
            for first in ("get", "lock"):
                with self.subTest(recipe=recipe, watched=watched, first=first):
                    self.znodes.create(self.root + "/l")
                    self.znodes.create(self.root + holder, b"somebody", 1)
                    self.watch_beside_lock(holder, recipe, watched, first)

    def watch_beside_lock(self, holder, recipe, watched, first):
        screen = self.start(width=200)
        lines = {"get": f"get -w {watched}\n", "lock": f"lock --recipe {recipe} /l &\n"}
        screen.type(lines.pop(first))
        if first == "get":
            self.wait_prompt(screen, 1)
        else:
            screen.wait_for("waiting /l: 2nd of 2, behind somebody")
        screen.type("".join(lines.values()))
        screen.wait_for("waiting /l: 2nd of 2, behind somebody")
        screen.type("unlock /l\n")
        screen.wait_for("left the queue of /l")
        self.znodes.delete(self.root + holder)
        self.znodes.delete(self.root + "/l")
        screen.wait_for(f"deleted  {watched}")

    def test_wait_outlives_the_server(self):
        screen = self.start("-t", "60000")
        self.run_line(screen, "create /a 1", 0)
        screen.type("wait --value 2 /a\n")
        self.server.kill()
        screen.wait_for("connection lost (")
        self.server.start()
        self.connect_znodes()
        screen.wait_for("reconnected to ")
        self.znodes.set(self.root + "/a", b"2")
        self.wait_prompt(screen, 2)

    def test_a_program_for_each_event_ends_with_the_watch(self):
        screen = self.start()
        self.run_line(screen, "create /a 1", 0)
        screen.type("watch -i -x 'echo pid $$ now; exec tail -f /dev/null' /a\n")
        pid = screen.wait_for(lambda s: re.search(r"(?m)^pid (\d+) now$", s.text())).group(1)
        screen.keys("C-c")
        self.wait_prompt(screen, 2)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))


if __name__ == "__main__":
    unittest.main()
