"""All descendants of a program under a lock are dead before another holds the lock."""
import os
import shlex
import signal
import subprocess
import unittest

from lock_case import PYTHON, STAMPS, LossTest
from running_processes import children, is_running
from session_case import ZKSH

# How a program takes a job (which ignores TERM) out of its group, its session or its ancestors. JOB writes
# its process id, and the time each millisecond.
FAMILIES = {
    "timeout": "timeout 1000 JOB; true",
    "setsid": "setsid -w JOB; true",
    "double fork": "(JOB & exec sleep 0) & exec tail -f /dev/null",
    "a daemon": "setsid sh -c 'JOB & exit 0' & exec tail -f /dev/null",
    "left behind": "JOB & exit 0",
    "left behind in a session": "setsid sh -c 'JOB & exit 0'; exit 0",
    "job control": "set -m; JOB & wait",
}


def words(pid):
    """A process's command line."""
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        return file.read().rstrip("\0").replace("\0", " ")


def comm(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read().rstrip("\n")


class Family(LossTest):
    def start_family(self, script, *options, number=""):
        """zksh; its watchdog; and the process id of the job. `number`: as of start_contender."""
        stamps, file = f"holder{number}", self.file(f"job{number}")
        if os.path.exists(self.file(stamps)):
            os.unlink(self.file(stamps))
        self.file(f"job{number}", "exec " + shlex.join([*PYTHON, "-c", STAMPS.replace("'", '"'), self.file(stamps)]))
        holder = self.lock("--grace", "200ms", *options, "--", "sh", "-c", script.replace("JOB", "sh " + file),
                           path=f"/l{number}", options=["-t", "8000"])
        pid = int(self.line(holder))
        self.kill_at_end(pid)
        self.wait_stamps(stamps)
        (watchdog,) = children(holder.pid)
        return holder, watchdog, pid

    def each(self, act, names=FAMILIES, status=None):
        """Whatever is done to zksh and its watchdog, the next holder begins after the job's last stamp. Each family has
        a lock of its own, so that sessions expire at the same time."""
        struck = []
        for number, name in enumerate(names):
            holder, watchdog, job = self.start_family(FAMILIES[name], number=number)
            contender = self.start_contender(number)
            act(holder, watchdog)
            struck.append((name, holder, watchdog, job, contender))
        for number, (name, holder, watchdog, job, contender) in enumerate(struck):
            with self.subTest(name):
                self.assert_ends(contender, 0)
                self.assertFalse(is_running(job))
                self.assert_no_overlap(number)
                holder.send_signal(signal.SIGCONT)
                holder.communicate(timeout=60)
                if status is not None:
                    self.assertEqual(holder.returncode, status)
                self.assertFalse(is_running(watchdog))
                self.wait_contenders(0, f"/l{number}")

    def test_term(self):
        self.each(lambda zksh, _: zksh.send_signal(signal.SIGTERM))

    def test_kill_of_zksh(self):
        self.each(lambda zksh, _: zksh.kill())

    def test_kill_of_all_that_is_called_so(self):
        """As pkill -9 -f does; zksh alone is killed, and the watchdog says what it has done."""
        patterns = [f"-s {self.connect}", "lock /l", "sh -c", self.file("job"), "zksh"]
        left = iter(patterns)

        def act(zksh, watchdog):
            pattern = next(left)
            self.assertEqual((words(watchdog), comm(watchdog)), (f"watchdog {zksh.pid}", "watchdog"))
            for process in [process for process in (zksh.pid, watchdog) if pattern in words(process)]:
                os.kill(process, signal.SIGKILL)
            self.wait_said(zksh, f"zksh (pid {zksh.pid}) was killed; its watchdog has ended sh")
        self.each(act, ["a daemon"] * len(patterns))

    def test_short_command_line(self):
        """The watchdog's is longer than zksh's."""
        self.file("f", "lock /l -- sh -c 'echo ready; exec tail -f /dev/null'\n")
        zksh = self.start_as("z", "-f", "f", cwd=self.directory)
        self.assertEqual(self.line(zksh), "ready")
        (watchdog,) = children(zksh.pid)
        self.assertEqual(words(watchdog), f"watchdog {zksh.pid}")

    def start_as(self, *arguments, **how):
        environment = {**os.environ, "ZKSH_SERVER": self.connect}
        process = subprocess.Popen(arguments, executable=ZKSH, env=environment, stdout=subprocess.PIPE, bufsize=0, **how)
        self.addCleanup(self.end, process)
        return process

    def test_priority(self):
        """The watchdog's is higher where the machine allows it; the program's is zksh's."""
        show = "import os; print(os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), flush=True); input()"
        for niceness, policy in ((0, os.SCHED_OTHER), (5, os.SCHED_BATCH)):
            def set_up(niceness=niceness, policy=policy):
                os.sched_setscheduler(0, policy, os.sched_param(0))
                os.setpriority(os.PRIO_PROCESS, 0, niceness)
            with self.subTest(niceness):
                zksh = self.lock("--", *PYTHON, "-c", show, preexec_fn=set_up)
                self.assertEqual(self.line(zksh), f"{policy} {niceness}")
                (watchdog,) = children(zksh.pid)
                try:
                    os.sched_setscheduler(zksh.pid, os.SCHED_RR, os.sched_param(1))
                except PermissionError:
                    self.skipTest("needs the right to real-time scheduling")
                self.assertEqual(os.sched_getscheduler(watchdog), os.SCHED_RR)
                zksh.communicate(b"\n", timeout=60)

    def test_stop_of_zksh(self):
        self.each(lambda zksh, _: zksh.send_signal(signal.SIGSTOP), status=76)

    def test_zksh_says_why_the_watchdog_has_ended_the_program(self):
        """Also if the servers confirm the lock as soon as zksh goes on."""
        zksh, _, job = self.start_family("exec sh " + self.file("job"), "-v")
        zksh.send_signal(signal.SIGSTOP)
        self.wait_ended(job)
        zksh.send_signal(signal.SIGCONT)
        self.assert_ends(zksh, 76, "(?m)^/l: .*SIGKILL to pid")

    def test_kill_of_the_watchdog(self):
        self.each(lambda _, watchdog: os.kill(watchdog, signal.SIGKILL))

    def test_stop_of_the_watchdog(self):
        """It is continued; what zksh is told then goes on as ever."""
        def act(zksh, watchdog):
            os.kill(watchdog, signal.SIGSTOP)
            zksh.send_signal(signal.SIGTERM)
        self.each(act, ("timeout", "a daemon"))

    def test_stop_of_the_watchdog_and_kill_of_zksh(self):
        def act(zksh, watchdog):
            os.kill(watchdog, signal.SIGSTOP)
            zksh.kill()
        self.each(act, ("timeout", "a daemon"))

    def test_loss(self):
        # Others hold the lock as soon as the node has gone: what counts is that nothing is left.
        for name, script in FAMILIES.items():
            with self.subTest(name):
                holder, _, job = self.start_family(script)
                self.take_away()
                self.assert_ends(holder, 76)
                self.assertFalse(is_running(job))

    def test_both_killed(self):
        """The program itself dies by its death signal; what it has left to others is not covered."""
        holder, watchdog, job = self.start_family("exec sh " + self.file("job"))
        contender = self.start_contender()
        self.stop(holder)
        os.kill(watchdog, signal.SIGKILL)
        holder.kill()
        self.assert_ends(contender, 0)
        self.assertFalse(is_running(job))
        self.assert_no_overlap()

    def test_the_last_descendant_gives_the_lock_back(self):
        holder, _, job = self.start_family(FAMILIES["left behind in a session"])
        contender = self.start_contender()
        self.wait_said(holder, "waiting for 1 process left behind by sh")
        os.kill(job, signal.SIGKILL)
        self.assert_ends(holder, 0, "(?m)^released /l")
        self.assert_ends(contender, 0)
        self.assert_no_overlap()

    def test_children_of_whoever_became_zksh_are_no_descendants(self):
        """A shell that has started something and then becomes zksh."""
        wrapper = self.script("sleep 1000 >/dev/null 2>&1 & echo $!", 'exec "$@"', name="wrap")
        zksh = self.start_wrapped(wrapper, "-c", "echo ready; exec tail -f /dev/null")
        before = int(self.line(zksh))
        self.kill_at_end(before)
        self.assertEqual(self.line(zksh), "ready")
        (watchdog,) = children(zksh.pid) - {before}
        os.kill(watchdog, signal.SIGKILL)
        self.assert_ends(zksh, 137, "the watchdog of pid")
        self.assertTrue(is_running(before))

    def test_kill_of_the_watchdog_as_the_program_starts(self):
        """First in, first out on one processor: the watchdog gets no time between exec and its end."""
        def in_turn():
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        try:
            subprocess.run(["true"], preexec_fn=in_turn, check=True)
        except (PermissionError, subprocess.SubprocessError):
            self.skipTest("needs the right to real-time scheduling")
        script = "kill -9 $PPID; setsid tail -f /dev/null >/dev/null 2>&1 & echo $!; wait"
        zksh = subprocess.Popen([ZKSH, "-s", self.connect, "lock", "/m", "-c", script], preexec_fn=in_turn,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(self.end, zksh)
        descendant = int(self.line(zksh))
        self.kill_at_end(descendant)
        self.assert_ends(zksh, 137, "the watchdog of pid")
        self.assertFalse(is_running(descendant))

    def start_wrapped(self, wrapper, *arguments):
        process = subprocess.Popen(["sh", wrapper, ZKSH, "-s", self.connect, "lock", "/m", *arguments],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(self.end, process)
        return process


if __name__ == "__main__":
    unittest.main()
