"""Runs the example scripts for operators: what they do, also when something fails."""
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "session"))
from session_case import SessionTest, ZKSH  # noqa: E402
from server import Server  # noqa: E402
from zksh import environment  # noqa: E402

SCRIPTS = sorted(path for path in HERE.iterdir() if path.suffix in (".sh", ".zk"))


class Scripts(SessionTest):
    def setUp(self):
        super().setUp()
        self.bin = self.file("bin")
        os.mkdir(self.bin)
        os.symlink(ZKSH, os.path.join(self.bin, "zksh"))

    def program(self, name, *lines):
        """A program of the test's own, which the scripts find."""
        pathlib.Path(self.bin, name).unlink(missing_ok=True)  # zksh is a link there, and what it leads to must stay
        self.script("#!/bin/sh", *lines, name=f"bin/{name}")

    def begin(self, name, *arguments, server=None, **variables):
        process = subprocess.Popen(
            [HERE / name, *arguments], cwd=self.directory, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(self.directory, ZKSH_SERVER=server or self.connect,
                            PATH=self.bin + ":" + os.environ["PATH"], **variables))
        self.addCleanup(self.end, process)
        return process

    def run_script(self, name, *arguments, **how):
        """Status, stdout and stderr."""
        process = self.begin(name, *arguments, **how)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def zksh(self, *arguments, **how):
        status, out, err = self.run_zksh(*arguments, **how)
        self.assertEqual(status, 0, err)
        return out

    def value(self, path):
        return self.znodes.get(self.root + path)

    def test_config_rollout(self):
        self.zksh("create", "/config", "old")
        self.file("new", "new\n")
        self.assertEqual(self.run_script("config-rollout.sh", "/config", "new", "true")[0], 0)
        self.assertEqual(self.value("/config"), b"new\n")
        self.file("bad", "bad")
        status, _, err = self.run_script("config-rollout.sh", "/config", "bad", "false")
        self.assertEqual((status, self.value("/config")), (1, b"new\n"))
        self.assertIn("restoring the old value", err)
        # Somebody else was faster: nothing is written, by the rollout or by the way back.
        self.program("theirs", "zksh set /config theirs; exit 1")
        self.assertEqual(self.run_script("config-rollout.sh", "/config", "bad", "theirs")[0], 6)
        self.assertEqual(self.value("/config"), b"theirs")
        self.program("sed", "text=$(cat); zksh set /config others", 'printf "%s\\n" "$text" | /bin/sed "$@"')
        self.assertEqual(self.run_script("config-rollout.sh", "/config", "bad", "true")[0], 6)
        self.assertEqual(self.value("/config"), b"others")

    def test_acl_repair(self):
        self.zksh("-c", "create /app; create /app/open; create '/app/a b'; create /app/mine x ip:127.0.0.1:cdrwa")
        status, out, err = self.run_script("acl-repair.sh", "/app", "world:anyone:ra,ip:127.0.0.1:cdrwa")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "world:anyone:ra,ip:127.0.0.1:cdrwa\t/app\nip:127.0.0.1:cdrwa\t/app/mine\n")
        self.zksh("-c", "create /shut; create --force /shut/b x world:anyone:cdrw")
        status, _, err = self.run_script("acl-repair.sh", "/shut", "world:anyone:ra")
        self.assertNotEqual(status, 0)
        self.assertIn("Insufficient permission : /shut/b", err)

    def test_follow_copy(self):
        self.zksh("-c", "create /app; create /app/a 1; create /copy")
        copy = self.connect + "/copy"
        process = self.begin("follow-copy.sh", "/app", copy, "1s")

        def copied(path, value):
            found = self.run_zksh("get", "--raw", path, server=copy)
            return found[:2] == (0, value)
        self.wait_until(lambda: copied("/app/a", "1"))
        self.zksh("set", "/app/a", "2")
        self.wait_until(lambda: copied("/app/a", "2"))
        # No event tells of an ACL.
        self.zksh("setAcl", "/app/a", "world:anyone:cdrwa,ip:10.0.0.1:r")
        self.wait_until(lambda: "ip:10.0.0.1:r" in self.run_zksh("getAcl", "-o", "plain", "/app/a", server=copy)[1])
        self.zksh("delete", "/app/a")
        self.wait_until(lambda: self.run_zksh("exists", "/app/a", server=copy)[0] == 1)
        self.assertIsNone(process.poll())

    def test_cron_once(self):
        self.zksh("create", "/cron")
        job = ("cron-once.sh", "/cron/job", "sh", "-c", 'echo "$1" >>ran; exit "$2"', "sh")
        self.assertEqual(self.run_script(*job, "failed", "3", SLOT="2026-11-23T05")[0], 3)
        machines = [self.begin(*job, str(number), "0", SLOT="2026-11-23T05") for number in range(4)]
        for machine in machines:
            machine.communicate(timeout=60)
            self.assertEqual(machine.returncode, 0)
        self.assertEqual(len(self.text("ran").splitlines()), 2)
        self.assertEqual(self.run_script(*job, "next", "0", SLOT="2026-11-23T06")[0], 0)
        self.assertEqual(self.text("ran").splitlines()[2:], ["next"])

    def test_barrier(self):
        first = [self.begin("barrier.zk", "/barrier/run-1", "3", "50s") for _ in range(2)]
        self.wait_until(lambda: self.znodes.exists(self.root + "/barrier/run-1")
                        and len(self.znodes.children(self.root + "/barrier/run-1")) == 2)
        self.assertEqual([process.poll() for process in first], [None, None])
        self.assertEqual(self.run_script("barrier.zk", "/barrier/run-1", "3", "50s")[0], 0)
        for process in first:
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
        self.assertEqual(self.run_script("barrier.zk", "/barrier/run-2", "2", "300ms")[0], 124)

    def test_backup_restore(self):
        self.zksh("-c", "create /app one; create /app/a two; create /app/b")
        with Server() as other:
            restore = ("backup-restore.sh", "/app", "app.tree", other.address)
            status, out, err = self.run_script(*restore)
            self.assertEqual((status, err), (0, ""))
            self.assertIn("created 3", out)
            self.assertEqual(self.zksh("get", "/app/a", server=other.address), "two\n")
            # What is there besides is neither removed nor overlooked.
            self.zksh("create", "/app/theirs", server=other.address)
            status, out, _ = self.run_script(*restore)
            self.assertEqual(status, 1)
            self.assertIn("/theirs", out)
        kept = self.text("app.tree")
        self.assertNotEqual(self.run_script("backup-restore.sh", "/none", "app.tree", self.connect)[0], 0)
        self.assertEqual(self.text("app.tree"), kept)

    def test_wait_for_instances(self):
        self.zksh("-c", "create /app; create /app/one")
        waiting = self.begin("wait-for-instances.zk", "/app", "2", "50s")
        self.assertEqual(self.run_script("wait-for-instances.zk", "/app", "2", "300ms")[0], 124)
        self.assertIsNone(waiting.poll())
        self.zksh("create", "/app/two")
        self.assertEqual(waiting.communicate(timeout=60)[0].split(), ["one", "two"])
        self.assertEqual(waiting.returncode, 0)

    def test_health_alert(self):
        def is_quiet():
            """A server of a busy machine may answer too late for it."""
            pathlib.Path(self.file("told")).unlink(missing_ok=True)
            return self.run_script("health-alert.sh", "tee", "told", server=self.server.address) == (0, "", "")
        self.wait_until(is_quiet)
        self.assertFalse(os.path.exists(self.file("told")))
        status, _, _ = self.run_script("health-alert.sh", "tee", "told", server="127.0.0.1:1")
        self.assertEqual(status, 3)
        self.assertIn("no quorum", self.text("told"))

    def test_leader(self):
        self.zksh("create", "/app")
        lead = ("leader.sh", "/app/leader", "echo $ZKSH_LOCK_LOSS >alarm", "sh", "-c")
        first = self.begin(*lead, "echo first >>led; exec tail -f /dev/null")
        self.wait_until(lambda: os.path.exists(self.file("led")))
        second = self.begin(*lead, "echo second >>led; exec tail -f /dev/null")
        self.wait_until(lambda: len(self.znodes.children(self.root + "/app/leader")) == 2)
        # The lead is taken away: the service ends, help is called for, and the other one leads.
        contenders = self.znodes.children(self.root + "/app/leader")
        self.znodes.delete(self.root + "/app/leader/" + min(contenders, key=lambda name: name[-10:]))
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 76)
        self.wait_until(lambda: self.text("led").split() == ["first", "second"])
        self.assertTrue(self.text("alarm").strip())
        second.terminate()

    def test_migrate(self):
        self.zksh("-c", "create /old one; create /old/a two; create /kept; create -p /new/kept")
        self.assertEqual(self.run_script("migrate.zk", "/old", "/new/by/year", "old.tree"), (0, "", ""))
        self.assertEqual((self.value("/new/by/year/a"), self.znodes.exists(self.root + "/old")), (b"two", False))
        self.zksh("apply", self.file("old.tree"))
        self.assertEqual(self.value("/old/a"), b"two")
        self.assertEqual(self.run_script("migrate.zk", "/kept", "/new/kept", "kept.tree")[0], 5)
        mine = self.start_with("create -e /kept/me x")
        status, _, err = self.run_script("migrate.zk", "/kept", "/copy", "kept.tree")
        self.assertEqual(status, 1)
        self.assertIn("/kept/me is ephemeral", err)
        self.assertEqual(self.znodes.children(self.root + "/kept"), ["me"])
        mine.communicate(b"quit\n", timeout=60)

    def test_quota_report(self):
        server = {"server": self.server.address}
        a, b = self.root + "/a", self.root + "/b"
        self.zksh("-c", f"create {a} 12345; create {b} x; setquota -n 2 {a}; setquota -B 100 {b}; create {a}/x",
                  **server)
        status, out, err = self.run_script("quota-report.sh", self.root, **server)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, f"nodes 2 of 2\tbytes 5\tok\t{a}\nnodes 1\tbytes 1 (hard 100)\tok\t{b}\n")
        self.zksh("create", a + "/y", **server)
        status, out, _ = self.run_script("quota-report.sh", self.root, **server)
        self.assertEqual((status, out.splitlines()[0]), (1, f"nodes 3 of 2\tbytes 5\texceeded\t{a}"))
        # No answer about what is exceeded does not mean that nothing is.
        self.program("zksh", 'case $* in *--exceeded*) exit 3;; esac; echo listed')
        self.assertEqual(self.run_script("quota-report.sh", self.root, **server)[:2], (3, "listed\n"))

    def test_stale(self):
        self.zksh("-c", "create /app; create /app/empty; create /app/full x")
        mine = self.start_with("create -e /app/me x")
        self.assertEqual(self.run_script("stale.zk", "/app", "0s"), (0, "/app/me\n/app/empty\n", ""))
        self.assertEqual(self.run_script("stale.zk", "/app", "1d"), (0, "", ""))
        self.assertEqual(self.run_script("stale.zk", "/none", "1d")[0], 4)
        mine.communicate(b"quit\n", timeout=60)

    def test_rolling_restart(self):
        self.zksh("-c", "create /roll; create /app; create /app/db1; create /app/db2")
        self.program("systemctl", 'echo "$@" >>calls',
                     'case $1 in stop) zksh delete "/app/$2";; start) [ -e broken ] || zksh create "/app/$2";; esac')
        both = [self.begin("rolling-restart.sh", "/roll", f"/app/{name}", name) for name in ("db1", "db2")]
        for process in both:
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
        calls = self.text("calls").splitlines()
        self.assertIn(calls, [["stop db1", "start db1", "stop db2", "start db2"],
                              ["stop db2", "start db2", "stop db1", "start db1"]])
        # One that does not come back stops the others.
        self.file("broken", "")
        self.assertEqual(self.run_script("rolling-restart.sh", "/roll", "/app/db1", "db1", PATIENCE="20s")[0], 124)
        status, _, err = self.run_script("rolling-restart.sh", "/roll", "/app/db2", "db2")
        self.assertEqual((status, err), (1, "not restarted: see /roll/failed\n"))
        # Nor is one restarted when no server says whether another has failed.
        status, _, err = self.run_script("rolling-restart.sh", "/roll", "/app/db2", "db2", server="127.0.0.1:1",
                                         ZKSH_LOCK_PATH="/roll/lock")
        self.assertEqual(status, 3, err)
        self.assertEqual(len(self.text("calls").splitlines()), 6)


class Shape(unittest.TestCase):
    def test_each_is_short_says_what_it_is_for_and_has_a_test(self):
        self.assertEqual(len(SCRIPTS), 13)
        for path in SCRIPTS:
            with self.subTest(path.name):
                lines = path.read_text(encoding="utf-8").splitlines()
                self.assertLessEqual(len(lines), 15)
                self.assertRegex(lines[0], "^#!")
                self.assertRegex(lines[1], r"^# [A-Z].*\.$")
                self.assertRegex(lines[2], "^# usage: .*" + path.name if path.suffix == ".zk" else "^# usage: ")
                self.assertTrue(hasattr(Scripts, "test_" + path.stem.replace("-", "_")))
                self.assertTrue(os.access(path, os.X_OK))


if __name__ == "__main__":
    unittest.main()
