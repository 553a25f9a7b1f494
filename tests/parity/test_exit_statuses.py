"""All kinds of outcomes of all commands, run as one-shots, have the exit statuses that README.md documents."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import Server  # noqa: E402
from zksh import run_zksh  # noqa: E402

OK, FAILURE, USAGE, NO_CONNECTION, NO_NODE, NODE_EXISTS = 0, 1, 2, 3, 4, 5
BAD_VERSION, NOT_AUTHORISED, HAS_CHILDREN, REFUSED = 6, 7, 8, 12

# What stands before the table's calls. /secret can be reached by nobody but its digest's owner.
SETUP = """
create /a one
create /a/b two
create /quiet x
create /secret x digest:user1:+owfoSBn/am19roBPzR1/MfCblE=:cdrwa
create /limited x
setquota -N 2 /limited
create /limited/only x
create /bare x
"""

TABLE = """
0   ls /
0   ls -s /a
0   ls -R /a
0   ls2 /a
0   stat /a
0   get /a
0   get -s /a
0   get -x /a
0   get -b /a
0   set /a three
0   set -v -1 /a four
0   create /made x
0   create -s /made-
0   create -e /fleeting
0   create -c /container
0   delete /made
0   deleteall /container
0   sync /a
0   getAcl /a
0   getAcl -s /a
0   setAcl /quiet world:anyone:cdrwa
0   setAcl -R /quiet world:anyone:cdrwa
0   listquota /limited
0   setquota -n 100 /quiet
0   delquota /quiet
0   getEphemerals /a
0   getAllChildrenNumber /a
0   addWatch /a
0   addauth digest user1:12345
0   whoami
0   config
0   4lw -t 20s ruok
0   health -t 20s
0   wchc -t 20s
0   latency -t 20s -n 1
0   top -t 20s -n 1 -i 100ms
0   who -t 20s /a
0   history
0   dump /a
0   diff /a /a
1   diff /a /bare
0   printwatches
0   version
0   help
0   help get
0   get --help
0   close
0   connect
0   quit
1   removewatches /a
4   listquota /bare
4   dump /nope
4   diff /a /nope
2   diff /a nofile
2   apply nofile
2   apply
4   delquota /bare
2   nosuchcommand
2   LS /
0   ls
2   ls nopath
0   ls /a/
2   ls /a//
2   ls //a
2   ls /a/../b
2   ls -q /
2   ls / x y
2   get
2   get /a -v
2   set /a
2   set -v abc /a x
2   set -v 99999999999 /a x
2   set -b /a ***
2   create
2   create -c -e /x
2   create -t abc /x
2   create -t 0 /x
2   delete
2   delete -v x /a
2   deleteall
2   deleteall -b x /a
2   stat
2   sync
2   getAcl
2   setAcl /a
2   setAcl -v x /a world:anyone:r
2   setquota /a
2   dump
2   diff /a
2   setquota -n abc /a
2   setquota -n 0 /a
2   setquota -n 5 /zookeeper/quota
2   delquota
2   listquota
2   addWatch
2   addWatch -m nonsense /a
2   removewatches
2   getAllChildrenNumber
2   reconfig
2   redo abc
1   who -t 20s 0x5
1   health -t 20s --deep
1   latency -t 20s -n 1 -w --path /none
2   latency -n 0
2   top -n 0
2   top -i 1ms
3   latency 127.0.0.1:1
3   top -n 1 -i 100ms 127.0.0.1:1
2   who 0x
4   who /none
2   4lw
3   health 127.0.0.1:1
2   4lw srvx
3   4lw abcd --any
2   4lw ruok host:port
2   help nosuchcommand
2   connect host:port
4   ls /none
4   ls -R /none
4   ls2 /none
4   stat /none
4   get /none
4   set /none x
4   create /none/child x
4   delete /none
4   deleteall /none
4   getAcl /none
4   setAcl /none world:anyone:r
4   getAllChildrenNumber /none
4   setquota -n 5 /none
5   create /a x
5   create / x
6   set -v 77 /a x
6   set /a x 77
6   delete -v 77 /a/b
6   setAcl -v 77 /a world:anyone:ra
7   get /secret
7   ls /secret
7   ls -R /
7   set /secret x
7   create /secret/x
7   getAcl /secret
7   setAcl /secret world:anyone:ra
7   deleteall /secret
7   create /x x nonsense
7   create /x x foo:bar:ra
7   setAcl /a nonsense
8   delete /a
12  create /limited/two x
12  create -t 1000 /timed
12  delete /
12  delete /zookeeper
12  reconfig -remove 1
"""


class ExitStatuses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())
        setup = cls.call(input=SETUP)
        assert setup.returncode == 0, setup.stderr

    @classmethod
    def call(cls, *words, **how):
        return run_zksh(*words, env={**os.environ, "ZKSH_SERVER": cls.server.address}, **how)

    def check(self, expected, *words):
        done = self.call(*words)
        told = f"zksh {' '.join(words)}\nstdout: {done.stdout}\nstderr: {done.stderr}"
        self.assertEqual(expected, done.returncode, told)
        if expected not in (OK, FAILURE):
            # zkCli says on stdout that a quota does not exist.
            self.assertTrue((done.stderr + done.stdout).strip(), "a failure without a word: " + told)

    def test_every_row_of_the_table(self):
        for row in TABLE.strip().splitlines():
            status, *words = row.split()
            with self.subTest(row=row):
                self.check(int(status), *words)

    def test_an_ephemeral_cannot_have_children(self):
        self.check(HAS_CHILDREN, "-c", "create -e /short; create /short/child x")

    def test_no_connection(self):
        self.check(NO_CONNECTION, "-s", "127.0.0.1:1", "--connect-timeout", "200ms", "ls", "/")

    def test_after_close_there_is_no_connection(self):
        self.check(NO_CONNECTION, "-c", "close; ls /")

    def test_a_refused_credential(self):
        done = self.call("-c", "addauth nosuchscheme secret; ls /")
        self.assertIn(done.returncode, (NOT_AUTHORISED, NO_CONNECTION))
        self.assertNotIn("secret", done.stderr + done.stdout)

    def test_the_first_failure_decides_with_keep_going(self):
        self.check(NO_NODE, "-k", "-c", "get /none; nosuchcommand; ls /")

    def test_a_redone_command_keeps_its_status(self):
        self.assertEqual(NO_NODE, self.call("-k", input="get /none\nredo 0\n").returncode)


if __name__ == "__main__":
    unittest.main()
