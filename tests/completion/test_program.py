"""The candidates of `zksh --complete`: options, choices, commands, files and a server's znodes."""
import pathlib
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import Server  # noqa: E402
from waiting import comes_true  # noqa: E402
from zksh import environment, run_zksh  # noqa: E402
from kazoo.client import KazooClient  # noqa: E402
from kazoo.security import make_digest_acl  # noqa: E402


def offered(*words, server="127.0.0.1:1", cwd=None, home="/nonexistent"):
    done = run_zksh("--complete", *words, env=environment(home, ZKSH_SERVER=server, XDG_CONFIG_HOME=""), cwd=cwd)
    assert (done.returncode, done.stderr) == (0, ""), done
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


def configure(home, text):
    config = pathlib.Path(home, ".config", "zksh", "config")
    config.parent.mkdir(parents=True)
    config.write_text(text, encoding="utf-8")


class WithoutServer(unittest.TestCase):
    def test_own_options(self):
        self.assertEqual(["--server"], offered("--ser"))
        self.assertEqual(["--help"], offered("-r", "--he"))
        self.assertIn("--sandbox", offered("--"))

    def test_values_of_own_options(self):
        self.assertEqual(["json", "plain", "table", "text", "zkcli"], sorted(offered("-o", "")))
        self.assertEqual(["--output=plain"], offered("--output=p"))
        self.assertEqual(["--sandbox=1", "--sandbox=3", "--sandbox=5"], offered("--sandbox="))
        self.assertEqual([], offered("-s", ""))

    def test_hidden_options_stay_hidden(self):
        for option in ("--complete", "--man", "--examples"):
            self.assertNotIn(option, offered(option[:4]))

    def test_commands_stand_behind_the_options(self):
        self.assertEqual(["create"], offered("cre"))
        for options in (["-s", "get"], ["-sget"], ["--server=get"], ["-server", "get"], ["-r", "-k"],
                        ["--sandbox"], ["--"], ["-rk", "-t", "5s"]):
            self.assertEqual(["create"], offered(*options, "cre"), options)

    def test_options_and_choices_of_a_command(self):
        self.assertEqual(["-R"], [option for option in offered("ls", "-") if option == "-R"])
        self.assertEqual(["off", "on"], sorted(offered("printwatches", "")))
        self.assertEqual(["create"], offered("help", "cr"))
        self.assertEqual([], offered("nonesuch", ""))

    def test_files(self):
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, "script.zk").touch()
            pathlib.Path(directory, "scripts").mkdir()
            pathlib.Path(directory, "scripts", "a b").touch()
            self.assertEqual(["script.zk", "scripts/"], sorted(offered("-f", "scr", cwd=directory)))
            self.assertEqual(["scripts/a b"], offered("--file", "scripts/", cwd=directory))
            self.assertEqual(["~/scripts/"], offered("-f", "~/scripts", home=directory))

    def test_no_server_means_no_candidates_and_no_word(self):
        self.assertEqual([], offered("get", "/a"))
        self.assertEqual([], offered("-s", "no such name", "get", "/a"))


class WithServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())
        zk = KazooClient(cls.server.address)
        zk.start()
        for path in ("/food/apple", "/fool", "/för/x", "/with blank", "/bad\u202ename"):
            zk.create(path, makepath=True)
        zk.stop()

    def assert_nodes(self, expected, *words, **how):
        """zksh gives up after a second, which a busy machine may take."""
        if not comes_true(lambda: offered(*words, **how) == expected, 30):
            self.assertEqual(expected, offered(*words, **how))

    def test_nodes_with_children_end_in_a_slash(self):
        self.assert_nodes(["/food/", "/fool"], "get", "/fo", server=self.server.address)
        self.assert_nodes(["/food/apple"], "get", "/food/", server=self.server.address)
        self.assert_nodes(["/för/"], "ls", "-s", "/f\u00f6", server=self.server.address)

    def test_the_server_is_that_of_the_command_line(self):
        for words in (["-s", self.server.address], ["--server=" + self.server.address],
                      ["-server", self.server.address]):
            self.assert_nodes(["/food/", "/fool"], *words, "get", "/fo")
        self.assert_nodes(["/apple"], "-s", self.server.address + "/food", "get", "/")

    def test_the_server_may_be_a_profile_s(self):
        with tempfile.TemporaryDirectory() as home:
            configure(home, f"[prod]\nserver = {self.server.address}\n[test]\nserver = 127.0.0.1:1\n")
            self.assertEqual(["prod", "test"], offered("-p", "", home=home))
            self.assertEqual(["--profile=prod"], offered("--profile=p", home=home))
            self.assert_nodes(["/food/", "/fool"], "-p", "prod", "get", "/fo", home=home)
            self.assertEqual([], offered("-p", "nonesuch", "get", "/fo", home=home))

    def test_nodes_that_only_credentials_may_list(self):
        zk = KazooClient(self.server.address, auth_data=[("digest", "ann:s3cret")])
        zk.start()
        self.addCleanup(zk.stop)
        zk.create("/anns/own", makepath=True)
        zk.set_acls("/anns", [make_digest_acl("ann", "s3cret", all=True)])
        with tempfile.TemporaryDirectory() as home:
            secret = pathlib.Path(home, "ann")
            secret.touch(0o600)
            secret.write_text("digest ann:s3cret\n", encoding="utf-8")
            configure(home, f"[ann]\nserver = {self.server.address}\nauth-file = {secret}\n")
            at = {"home": home, "server": self.server.address}
            self.assertEqual([], offered("get", "/anns/", **at))
            self.assert_nodes(["/anns/own"], "-p", "ann", "get", "/anns/", **at)
            self.assert_nodes(["/anns/own"], "--auth-file", str(secret), "get", "/anns/", **at)
            self.assertEqual([], offered("--auth-file", str(secret) + "x", "get", "/anns/", **at))
        zk.delete("/anns", recursive=True)

    def test_names_that_are_no_single_line_of_text_are_left_out(self):
        self.assertEqual([], offered("get", "/bad", server=self.server.address))
        self.assert_nodes(["/with blank"], "get", "/w", server=self.server.address)

    def test_only_where_a_path_belongs(self):
        self.assertEqual([], offered("set", "/fool", "/fo", server=self.server.address))
        self.assert_nodes(["/"], "get", "", server=self.server.address)

    def test_a_missing_parent_is_no_error(self):
        self.assertEqual([], offered("get", "/none/a", server=self.server.address))

    def test_a_frozen_server_costs_a_second_at_most(self):
        self.server.freeze()
        self.addCleanup(self.server.thaw)
        begun = time.monotonic()
        self.assertEqual([], offered("get", "/fo", server=self.server.address))
        self.assertLess(time.monotonic() - begun, 9)  # zksh itself would wait for 10 s to connect


if __name__ == "__main__":
    unittest.main()
