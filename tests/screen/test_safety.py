"""Safety at the prompt: confirmations, profiles, and what is refused."""
import unittest

from shell_case import ZKSH, ShellTest


class UsualPrompt(ShellTest):
    def environment(self):
        return {**super().environment(), "XDG_CONFIG_HOME": "/nonexistent"}


class Removals(UsualPrompt):
    def tree(self, children):
        self.znodes.create(self.root + "/app")
        for number in range(children):
            self.znodes.create(f"{self.root}/app/n{number}")

    def names(self):
        return self.znodes.children(self.root)

    def test_a_subtree_is_removed_after_a_yes_alone(self):
        self.tree(3)
        screen = self.start()
        screen.type("rmr /app\n")
        screen.wait_for("/app: 4 nodes. Delete them? [y/N]")
        screen.type("\n")
        screen.wait_for("nothing was deleted")
        self.wait_prompt(screen, "1 !1")
        self.assertEqual(["app"], self.names())
        screen.type("rmr /app\n")
        screen.wait_for(lambda s: sum("[y/N]" in line for line in s.lines()) == 2)
        screen.type("y\n")
        self.wait_prompt(screen, 2)
        self.assertEqual([], self.names())

    def test_what_find_deletes_is_asked_for_alike(self):
        self.tree(1000)
        screen = self.start()
        screen.type("find /app -name n7 -delete\n")
        screen.wait_for("/app/n7. Delete it? [y/N]")
        screen.type("y\n")
        self.wait_prompt(screen, 1)
        self.assertEqual(999, len(self.znodes.children(self.root + "/app")))
        screen.type("find /app -delete\n")
        screen.wait_for("1000 nodes, from /app to /app/n999. Type 1000 to delete them:")
        screen.type("y\n")
        screen.wait_for("nothing was deleted: the answer was not 1000")
        self.wait_prompt(screen, 2)
        screen.type("find /app -delete\n")
        screen.wait_for(lambda s: s.text().count("Type 1000") == 2)
        screen.type("1000\n")
        self.wait_prompt(screen, 3)
        self.assertEqual([], self.names())

    def test_each_question_stands_below_what_was_answered_before(self):
        self.tree(2)
        screen = self.start()
        screen.type("find /app -name 'n*' -ok 'exists {}'\n")
        screen.wait_for("exists /app/n0? [y/N]")
        screen.type("y\n")
        screen.wait_for("exists /app/n1? [y/N]")
        self.assertRegex(screen.text(), r"exists /app/n0\? \[y/N\] y\n/app/n0: yes\nexists /app/n1\?")
        screen.type("n\n")
        self.wait_prompt(screen, 1)

    def test_several_subtrees_have_one_total(self):
        for path in ("/tmp-1", "/tmp-1/a", "/tmp-1/b", "/tmp-2"):
            self.znodes.create(self.root + path)
        screen = self.start()
        screen.type("rmr tmp-*\n")
        screen.wait_for("2 subtrees: 4 nodes. Delete them? [y/N]")
        screen.type("y\n")
        self.wait_prompt(screen, 1)
        self.assertEqual(screen.lines()[-2], "4 nodes deleted")

    def test_quotas_that_outlive_their_node(self):
        self.tree(1)
        screen = self.start()
        self.run_line(screen, "setquota -n 5 /app", 0)
        screen.type("rmr /app\n")
        screen.wait_for("/app: 2 nodes. Delete them? [y/N]")
        screen.type("y\n")
        screen.wait_for("The quota of /app is still there. Delete it? [y/N]")
        screen.type("y\n")
        self.wait_prompt(screen, 2)
        screen.type("listquota /app\n")
        screen.wait_for("quota for /app does not exist.")

    def test_a_large_one_wants_its_name_or_path(self):
        self.tree(1000)
        screen = self.start()
        screen.type("deleteall /app\n")
        screen.wait_for("Type app to delete them:")
        screen.type("y\n")
        self.wait_prompt(screen, "1 !1")
        self.assertEqual(screen.lines()[-2], "nothing was deleted: the answer was not app")
        self.assertEqual(["app"], self.names())
        for done, answer in enumerate(("app", "/app"), start=1):
            if not self.names():
                self.tree(1000)
            screen.type("deleteall /app\n")
            screen.wait_for(lambda s: sum("Type app" in line for line in s.lines()) == done + 1)  # noqa: B023
            screen.type(f"{answer}\n")
            self.wait_prompt(screen, done + 1)
            self.assertEqual([], self.names())
            self.assertEqual(screen.lines()[-2], "1001 nodes deleted")

    def test_nothing_is_asked_of_a_leaf_or_with_yes_or_when_switched_off(self):
        self.tree(1)
        screen = self.start()
        self.run_line(screen, "rmr /app/n0", 0)
        self.run_line(screen, "create /app/x", 1)
        self.run_line(screen, "rmr -y /app", 2)
        self.assertEqual([], self.names())
        self.run_line(screen, "create /b", 3)
        self.run_line(screen, "create /b/c", 4)
        self.run_line(screen, "conf confirm off", 5)
        self.run_line(screen, "rmr /b", 6)
        self.assertEqual([], self.names())

    def test_ctrl_c_at_the_question_removes_nothing(self):
        self.tree(1)
        screen = self.start()
        screen.type("rmr /app\n")
        screen.wait_for("[y/N]")
        screen.keys("C-c")
        self.wait_prompt(screen, 1)
        self.assertEqual(["app"], self.names())
        # The terminal echoes what is typed, and lines are edited.
        self.run_line(screen, "ls /", 1)

    def test_acls_of_a_subtree_are_changed_after_a_yes_alone(self):
        self.tree(3)
        screen = self.start()
        screen.type("setAcl -R /app world:anyone:cdra\n")
        screen.wait_for("/app: 4 nodes. Change the ACL of them? [y/N]")
        screen.type("\n")
        screen.wait_for("nothing was changed")
        self.wait_prompt(screen, "1 !1")
        self.assertEqual(self.run_line(screen, "getAcl /app/n2", 1), ["world:anyone:cdrwa"])
        screen.type("setAcl -R --remove world:anyone --add ip:127.0.0.1:cdrwa /app\n")
        screen.wait_for(lambda s: s.text().count("Change the ACL of them? [y/N]") == 2)
        screen.type("y\n")
        self.wait_prompt(screen, 3)
        self.assertEqual(self.run_line(screen, "getAcl /app/n2", 3), ["ip:127.0.0.1:cdrwa"])
        self.run_line(screen, "setAcl -y -R /app world:anyone:cdrwa", 4)

    def test_an_acl_that_seals_a_tree_is_refused(self):
        self.tree(1)
        screen = self.start(width=200)
        for line in ("setAcl -R /app world:anyone:r", "setAcl --force --remove world:anyone /app",
                     "setAcl /app digest:bob:8tDqWVwI9NBxrQlBoHC5n4yUGqk=:cdrwa"):
            screen.type(line + "\n")
        self.wait_prompt(screen, 3)
        self.assertIn("nobody could change the ACL of /app any more, since no entry would have the permission a; nothing was "
                      "written (--force does it)", screen.lines())
        self.assertIn("this session could not change the ACL of /app any more, since no entry with the permission a names one "
                      "of its identities (`whoami`); nothing was written (--force does it)", screen.lines())
        self.assertEqual(self.run_line(screen, "getAcl /app", 3), ["world:anyone:cdrwa"])

    def test_a_missing_permission_names_its_remedy(self):
        self.tree(1)
        screen = self.start(width=200)
        self.run_line(screen, "setAcl --force /app digest:bob:8tDqWVwI9NBxrQlBoHC5n4yUGqk=:cdwa,world:anyone:r", 0)
        has = "which digest:bob has; `addauth` adds an identity)"
        for number, (line, needed) in enumerate((("set /app x", "w on /app"), ("create /app/new", "c on /app"),
                                                 ("delete /app/n0", "d on /app"), ("setAcl /app world:anyone:cdrwa", "a on /app")),
                                                start=1):
            path = line.split()[1]
            self.assertEqual(self.run_line(screen, line, number), [f"Insufficient permission : {path} (it needs {needed}, {has}"])
        self.assertEqual(self.run_line(screen, "rm -r -y /app", 5)[-1],
                         f"0 of 2 nodes were deleted; the first failure: Insufficient permission : /app/n0 (it needs d on /app, {has}")
        self.assertEqual(self.run_line(screen, "setAcl -R -y /app world:anyone:cdrwa", 6),
                         [f"Insufficient permission : /app (it needs a on /app, {has}"])

    def test_in_the_background_it_wants_yes(self):
        self.tree(1)
        screen = self.start()
        screen.type("rmr /app &\n")
        screen.wait_for("in the background; use --yes")
        self.assertEqual(["app"], self.names())


class Prompt(UsualPrompt):
    def test_it_tells_the_current_node_and_the_last_status(self):
        self.znodes.create(self.root + "/app")
        screen = self.start()
        screen.type("cd app\n")
        self.wait_prompt(screen, "1 /app")
        screen.type("get nothing\n")
        self.wait_prompt(screen, "2 /app !4")
        screen.type("cd -\n")
        self.wait_prompt(screen, 3)

    def test_its_format_is_a_setting(self):
        screen = self.start()
        screen.type("conf prompt 'zk:%d> '\n")
        screen.wait_for(lambda s: s.lines()[-1] == "zk:>")
        screen.type("create a\ncd a\n")
        screen.wait_for(lambda s: s.lines()[-1] == "zk: /a>")

    def test_a_profile_that_protects_is_named(self):
        self.file("protected/zksh/config", f"[prod]\nserver = {self.connect}\nread-only = on\n")
        screen = self.screen_of([ZKSH, "-p", "prod"], XDG_CONFIG_HOME=self.file("protected"), NO_COLOR="")
        self.wait_prompt(screen, "0 prod")
        # Red: SGR 31 before the name.
        screen.wait_for(lambda s: any("31m" in line and "prod" in line for line in s.lines(escapes=True)))
        screen.type("create /x\n")
        screen.wait_for("create refused: this zksh is read-only (profile prod)")
        self.assertEqual([], self.znodes.children(self.root))


if __name__ == "__main__":
    unittest.main()
