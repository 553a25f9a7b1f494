"""The transcript runner must fail when it should: a test that cannot fail is a defect."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# Answers each line of its input; `say TEXT` goes to stdout, `warn TEXT` to stderr, `exit N` ends.
FAKE = r"""#!/bin/bash
shift 2  # -server ADDRESS
if [ $# -gt 0 ]; then "$@"; exit; fi
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    say*) echo "${line#say }" ;;
    bytes) printf 'a\0\377b\n' ;;
    partial) printf 'no newline' ;;
    warn*) echo "${line#warn }" >&2 ;;
    session) echo 'ephemeralOwner = 0x10000abcdef0001'; echo 'cZxid = 0x17'; echo 'mZxid = 0x17' ;;
    wait) while [ ! -e flag ]; do sleep 0.01; done; echo released ;;
    touch) touch flag; echo touched ;;
    exit*) exit "${line#exit }" ;;
  esac
done
"""


class Runner(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.fake = os.path.join(self.directory.name, "fake")
        pathlib.Path(self.fake).write_text(FAKE, encoding="utf-8")
        os.chmod(self.fake, 0o755)

    def run_transcript(self, text, *options, zksh=None):
        path = pathlib.Path(self.directory.name, "case.txt")
        path.write_text("@root none\n@timeout 60\n" + text, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, HERE / "run.py", "--zksh", zksh or self.fake, "--server",
             "127.0.0.1:1", *options, path], capture_output=True, text=True, check=False)
        written = path.read_text(encoding="utf-8")
        return result.returncode, result.stdout + result.stderr, written

    def assert_agrees(self, text):
        status, output, _ = self.run_transcript(text)
        self.assertEqual(status, 0, output)

    def assert_fails(self, text, *reasons):
        status, output, _ = self.run_transcript(text)
        self.assertEqual(status, 1, output)
        for reason in reasons:
            self.assertIn(reason, output)

    def test_what_is_printed_as_expected_agrees(self):
        self.assert_agrees("$ zksh\n> say a\n| a\n> warn b\n! b\n> say\n> exit 3\n|\n[3]\n"
                           .replace("> say\n", "> say \n"))

    def test_another_line_on_stdout_is_shown(self):
        self.assert_fails("$ zksh\n> say a\n| b\n", "-b\n", "+a\n")

    def test_a_line_on_the_other_stream_fails(self):
        self.assert_fails("$ zksh\n> say a\n! a\n", "stdout printed", "stderr expected")

    def test_surplus_output_fails(self):
        self.assert_fails("$ zksh\n> say a\n> say b\n| a\n", "+b\n")

    def test_missing_output_fails(self):
        self.assert_fails("$ zksh\n> say a\n| a\n| b\n", "-b\n")

    def test_another_status_fails(self):
        self.assert_fails("$ zksh\n> exit 4\n[5]\n", "exit status 4, expected 5")

    def test_a_status_that_nobody_expects_fails(self):
        self.assert_fails("$ zksh\n> say a\n| a\n> exit 4\n", "exit status 4, expected 0")

    def test_a_missing_newline_fails(self):
        self.assert_fails("$ zksh\n> partial\n| no newline\n", "\\ no newline")
        self.assert_agrees("$ zksh\n> partial\n| no newline\n\\ no newline\n")

    def test_bytes_are_compared_exactly(self):
        self.assert_agrees("$ zksh\n> bytes\n|x a\\x00\\xffb\n")
        self.assert_fails("$ zksh\n> bytes\n|x a\\x00\\xfeb\n")

    def test_one_shot_commands_get_their_words(self):
        self.assert_agrees("$ zksh printf '%s.' a 'b c'\n| a.b c.\n\\ no newline\n")

    def test_a_file_that_expects_nothing_fails(self):
        self.assert_fails("$ zksh\n> say\n", "expects nothing")

    def test_a_file_that_runs_nothing_fails(self):
        self.assert_fails("# nothing\n", "runs no program")

    def test_a_line_of_unknown_form_fails(self):
        self.assert_fails("$ zksh\n> say a\na\n", "not a line of a transcript")

    def test_a_missing_program_fails(self):
        status, output, _ = self.run_transcript("$ zksh\n> say a\n| a\n", zksh="/nonexistent/zksh")
        self.assertNotEqual(status, 0)
        self.assertIn("/nonexistent/zksh", output)

    def test_a_command_that_is_not_found_fails(self):
        self.assert_fails("$ nosuchprogram\n| a\n", "exit status 127")

    def test_a_program_that_does_not_end_fails(self):
        self.assert_fails("@timeout 0.3\n$ zksh\n> say a\n| a\n> wait\n", "still runs")

    def test_ids_are_masked_and_equal_ones_stay_equal(self):
        self.assert_agrees("$ zksh\n> session\n| ephemeralOwner = 0x<SID1>\n| cZxid = 0x<ID1>\n"
                           "| mZxid = 0x<ID1>\n")
        self.assert_fails("$ zksh\n> session\n| ephemeralOwner = 0x<SID1>\n| cZxid = 0x<ID1>\n"
                          "| mZxid = 0x<ID2>\n")

    def test_what_a_lock_is_made_of_is_masked(self):
        self.assert_agrees("$ zksh\n> say acquired /l  token=77  node=_c_0123abcd…-lock-0000000003  waited=0.012s\n"
                           "| acquired /l  token=<TOKEN>  node=_c_<GUID>…-lock-0000000003  waited=<TIME>\n"
                           "> say /l/_c_01234567-89ab-cdef-0123-456789abcdef-__READ__0000000001\n"
                           "| /l/_c_<GUID>-__READ__0000000001\n"
                           "> say 0123456789abcdef0123456789abcdef__lock__0000000001\n| <GUID>__lock__0000000001\n"
                           "> say behind host=db1 pid=4711 user=ops cmd=\"x\" via=zksh/0.1.0\n"
                           "| behind host=<HOST> pid=<PID> user=<USER> cmd=\"x\" via=zksh/<VERSION>\n")
        self.assert_fails("$ zksh\n> say token=77  node=_c_0123abcd…-lock-0000000003\n"
                          "| token=<TOKEN>  node=_c_<GUID>…-lock-0000000004\n")

    def test_sessions_wait_for_each_other(self):
        self.assert_agrees("A$ zksh\nB$ zksh\nA& wait\nB> touch\nB| touched\nA| released\nA[0]\n")

    def test_a_race_between_sessions_is_refused(self):
        self.assert_fails("A$ zksh\nB$ zksh\nA> wait\nB> touch\nB| touched\nA| released\n",
                          "line 6", "may come too early")

    def test_surplus_output_of_a_named_session_fails(self):
        self.assert_fails("A$ zksh\nA> say a\nA| a\nA> say b\nA[0]\n", "+b\n")

    def test_an_output_that_never_comes_fails(self):
        self.assert_fails("A$ zksh\nA> say a\nA| a\n@timeout 0.3\nA| b\n", "-b\n")

    def test_update_writes_what_is_printed(self):
        status, output, written = self.run_transcript(
            "# why\n\n$ zksh\n> say a\n| old\n> warn b\n> bytes\n> exit 3\n\n# more\nA$ zksh\nA> partial\n",
            "--update")
        self.assertEqual(status, 0, output)
        self.assertEqual(written, "@root none\n@timeout 60\n# why\n\n$ zksh\n> say a\n| a\n> warn b\n"
                         "! b\n> bytes\n|x a\\x00\\xffb\n> exit 3\n[3]\n\n# more\nA$ zksh\n"
                         "A> partial\nA| no newline\nA\\ no newline\nA[0]\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
