"""The checker of stamps refuses forged ledgers and finds overlaps, without false alarms."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from families import Family  # noqa: E402
from lock_ledger import PROGRAMS, LockLedger, build_stamper  # noqa: E402
from stamps import Forged, Stamps  # noqa: E402
from waiting import wait_until  # noqa: E402

MS = 10 ** 6


def lines(*entries):
    """Each (ms, event, who[, more…]); a process of each `who` has the number 1 unless it says more."""
    text = ""
    for ms, event, who, *more in entries:
        if event == "E":
            more = ["1", *(more if len(more) > 1 else ["-", *more])]
        elif event != "A" and not more:
            more = ["1"]
        text += " ".join([str(ms * MS), event, who, *map(str, more)]) + "\n"
    return text


def stamps_of(*entries):
    stamps = Stamps()
    stamps.feed(lines(*entries))
    stamps.finish()
    return stamps


class Forgeries(unittest.TestCase):
    def assert_refused(self, text, why):
        with self.assertRaisesRegex(Forged, why):
            stamps = Stamps()
            stamps.feed(text)
            stamps.finish()

    def test_empty(self):
        self.assert_refused("", "nobody has held")

    def test_torn(self):
        self.assert_refused(lines((1, "E", "a", "/l:exclusive")) + "2000000 S", "torn")

    def test_no_lines(self):
        for text in ("nonsense\n", "x E a 1 - /l:exclusive\n", "1 S a\n", "1 S a x\n", "\n"):
            self.assert_refused(text, "is none")

    def test_an_unknown_event(self):
        self.assert_refused("1 Q a 1\n", "is none")

    def test_a_stamp_with_too_much(self):
        self.assert_refused(lines((1, "E", "a", "/l:exclusive")) + "2000000 S a 1 1\n", "is none")

    def test_a_stamp_of_one_who_has_not_come(self):
        self.assert_refused(lines((1, "S", "a")), "has not come")

    def test_one_who_comes_twice(self):
        self.assert_refused(lines((1, "E", "a", "/l:exclusive"), (2, "E", "a", "/l:exclusive")), "comes twice")

    def test_claims(self):
        for claim in ("l:exclusive", "/l", "/l:", "/l:both", "/l:0/3", "/l:4/3", "/l:-1/3"):
            self.assert_refused(lines((1, "E", "a", claim)), "a claim")
        self.assert_refused("1 E a 1 -\n", "for nothing")
        self.assert_refused(lines((1, "E", "a", "-", "/l:read", "/l:write")), "twice for the same")

    def test_a_clock_that_goes_back(self):
        self.assert_refused(lines((5, "E", "a", "/l:exclusive"), (4, "S", "a")), "went back")

    def test_a_stamp_of_one_who_has_left(self):
        self.assert_refused(lines((1, "E", "a", "/l:exclusive"), (2, "X", "a"), (3, "S", "a")), "had left")


class Overlaps(unittest.TestCase):
    def assert_overlaps(self, entries, *expected):
        found = [(overlap.path, [one.who for one in overlap.holds]) for overlap in stamps_of(*entries).overlaps()]
        self.assertEqual(found, list(expected))

    def pair(self, first, second):
        """Two who work from 1 to 5 and from 4 to 8."""
        return [(1, "E", "a", f"/l:{first}"), (2, "S", "a"), (4, "E", "b", f"/l:{second}"), (5, "S", "a"),
                (6, "X", "a"), (8, "X", "b")]

    def test_one_after_the_other(self):
        self.assert_overlaps([(1, "E", "a", "/l:exclusive"), (2, "X", "a"), (3, "E", "b", "/l:exclusive"),
                              (4, "X", "b")])

    def test_two_at_once(self):
        for first, second in (("exclusive", "exclusive"), ("read", "write"), ("write", "read"), ("write", "write"),
                              ("exclusive", "read"), ("1/1", "1/1")):
            self.assert_overlaps(self.pair(first, second), ("/l", ["a", "b"]))

    def test_how_long(self):
        overlap = stamps_of(*self.pair("exclusive", "exclusive")).overlaps()[0]
        self.assertEqual(overlap.nanoseconds, 2 * MS)
        self.assertIn("/l: b came while a still worked, for 0.002 s", str(overlap))

    def test_those_who_may(self):
        self.assert_overlaps(self.pair("read", "read"))
        self.assert_overlaps(self.pair("1/2", "1/2"))
        self.assert_overlaps([(1, "E", "a", "/l:exclusive"), (2, "E", "b", "/m:exclusive"), (3, "S", "a")])

    def test_the_very_first_line_counts(self):
        """A program that is killed before its first stamp has come all the same."""
        self.assert_overlaps([(1, "E", "a", "/l:exclusive"), (4, "E", "b", "/l:exclusive"), (5, "S", "a")],
                             ("/l", ["a", "b"]))

    def test_one_line_is_enough(self):
        self.assert_overlaps([(1, "E", "a", "/l:exclusive"), (2, "E", "b", "/l:exclusive"), (3, "X", "a")],
                             ("/l", ["a", "b"]))

    def test_a_late_line_with_an_early_time(self):
        """It was stopped between the look at the clock and the line."""
        self.assert_overlaps([(1, "E", "a", "/l:exclusive"), (5, "E", "b", "/l:exclusive"), (2, "S", "a")],
                             ("/l", ["a", "b"]))

    def test_an_early_line_with_a_late_time(self):
        self.assert_overlaps([(1, "E", "a", "/l:exclusive"), (6, "S", "a"), (5, "E", "b", "/l:exclusive")],
                             ("/l", ["a", "b"]))

    def test_another_process_of_the_program(self):
        """Its leader has left; a child that forked twice works on."""
        self.assert_overlaps([(1, "E", "a", "/l:exclusive"), (2, "X", "a"), (3, "S", "a", 77),
                              (4, "E", "b", "/l:exclusive"), (5, "S", "a", 77)], ("/l", ["a", "b"]))

    def test_an_old_one_behind_a_short_one(self):
        """a still works when c comes; b between them has left long ago."""
        self.assert_overlaps([(1, "E", "a", "/l:read"), (2, "E", "b", "/l:read"), (3, "X", "b"),
                              (4, "E", "c", "/l:write"), (5, "S", "a")], ("/l", ["a", "c"]))

    def test_each_path_of_several(self):
        self.assert_overlaps([(1, "E", "a", "-", "/l:exclusive", "/m:exclusive"), (2, "E", "b", "/m:exclusive"),
                              (3, "S", "a")], ("/m", ["a", "b"]))

    def test_semaphores(self):
        three = [(1, "E", "a", "/l:1/3"), (2, "E", "b", "/l:1/3"), (3, "E", "c", "/l:1/3"), (9, "S", "a"),
                 (9, "S", "b"), (9, "S", "c")]
        self.assert_overlaps(three)
        four = [*three[:3], (4, "E", "d", "/l:1/3"), *three[3:]]
        self.assert_overlaps(four, ("/l", ["a", "b", "c", "d"]))
        self.assert_overlaps(self.pair("2/3", "2/3"), ("/l", ["a", "b"]))
        self.assert_overlaps(self.pair("1/3", "2/3"))
        # Who does not agree on their number does not agree on the rest.
        self.assert_overlaps(self.pair("1/3", "1/4"), ("/l", ["a", "b"]))

    def test_one_whom_nobody_could_end(self):
        entries = [(1, "E", "a", "/l:exclusive"), (2, "S", "a"), (3, "A", "a"), (5, "E", "b", "/l:exclusive"),
                   (6, "S", "a")]
        self.assert_overlaps(entries)
        self.assertEqual(stamps_of(*entries).holds["a"].late, 1)
        # It is no excuse for what was before.
        self.assert_overlaps([*entries[:2], entries[3], entries[4], (7, "A", "a")], ("/l", ["a", "b"]))

    def test_tokens_that_do_not_grow(self):
        def tokens(*values):
            return list(stamps_of(*((10 * i + 1, "E", f"w{i}", token, "/l:exclusive")
                                    for i, token in enumerate(values))).stale_tokens())
        self.assertEqual(tokens("5", "7", "-", "9"), [])
        self.assertEqual(tokens("5", "7", "6"), ["/l: w2 came with the token 6 after 7"])
        self.assertEqual(tokens("5", "5"), ["/l: w1 came with the token 5 after 5"])

    def test_distances(self):
        stamps = stamps_of((10, "E", "r1", "/l:read"), (11, "E", "r2", "/l:read"), (15, "X", "r2"), (20, "X", "r1"),
                           (50, "E", "w", "/l:write"), (60, "X", "w"), (61, "E", "r3", "/l:read"),
                           (63, "E", "r4", "/l:read"))
        self.assertEqual([(one.older.who, one.newer.who, one.nanoseconds // MS) for one in stamps.distances()],
                         [("r1", "w", 30), ("w", "r3", 1), ("w", "r4", 3)])

    def test_half_a_line_is_waited_for(self):
        stamps, text = Stamps(), lines((1, "E", "a", "/l:exclusive"), (2, "S", "a"))
        for letter in text:
            stamps.feed(letter)
        stamps.finish()
        self.assertEqual(len(stamps.holds["a"].lines), 2)

    def test_as_a_program(self):
        with tempfile.TemporaryDirectory() as directory:
            def status(text):
                name = os.path.join(directory, "ledger")
                with open(name, "w", encoding="ascii") as file:
                    file.write(text)
                return subprocess.run([sys.executable, "-B", os.path.join(HERE, "stamps.py"), name],
                                      capture_output=True, check=False).returncode
            good = [(1, "E", "a", "/l:exclusive"), (2, "X", "a")]
            self.assertEqual(status(lines(*good)), 0)
            self.assertEqual(status(lines(*self.pair("write", "read"))), 1)
            self.assertEqual(status(lines(*good) + "torn"), 1)


class Stampers(unittest.TestCase):
    """The program itself, without any lock: what it writes is what it is, in every kind."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.stamper = build_stamper(cls.directory.name)

    def setUp(self):
        self.ledger = LockLedger(self.directory.name, self.stamper)
        self.addCleanup(self.ledger.__exit__)

    def start(self, who, kind, seconds):
        process = subprocess.Popen(self.ledger.program(who, seconds, kind, ["/l:1/99", "/m:read"]),
                                   start_new_session=True)
        self.addCleanup(process.wait)
        return process

    def test_every_kind_comes_stamps_and_leaves(self):
        for kind in PROGRAMS:
            self.start(kind, kind, 1)
        for kind in PROGRAMS:
            wait_until(lambda kind=kind: self.ledger.hold(kind) and self.ledger.hold(kind).left)
            hold = self.ledger.hold(kind)
            self.assertEqual(sorted(hold.claims), ["/l", "/m"])
            self.assertGreater(len(hold.lines), 2, kind)  # it came, stamped and left
        self.assertEqual(self.ledger.read().overlaps(), [])

    def test_what_terminates_them(self):
        """TERM to the first process, as to a lone program, leaves those working that are to be hard to end."""
        working = {}
        for kind in ("plain", "tidy", "stubborn", "group", "session"):
            process = self.start(kind, kind, 600)
            wait_until(lambda kind=kind: self.ledger.hold(kind) and len(self.ledger.hold(kind).lines) > 1)
            working[kind] = process
        for process in working.values():
            process.terminate()
        for kind in ("plain", "tidy"):
            working[kind].wait(60)
        self.assertTrue(self.ledger.hold("tidy").left)
        for kind in ("stubborn", "group", "session"):
            wait_until(lambda kind=kind: self.ledger.works(kind))  # a busy machine may have stopped it for a moment
        self.end(*working)

    def test_its_family_is_found(self):
        process = self.start("child", "child", 600)
        wait_until(lambda: self.ledger.hold("child") and len(self.ledger.hold("child").pids) == 2)
        family = Family(process.pid)
        self.assertEqual(family.program | family.zksh, self.ledger.hold("child").pids)
        self.end("child")

    def end(self, *kinds):
        """A ledger that was removed ends all of them."""
        os.rename(self.ledger.path, self.ledger.path + ".kept")
        os.unlink(self.ledger.path + ".kept")
        wait_until(lambda: not any(self.ledger.works(kind) for kind in kinds))
        with open(self.ledger.path, "w", encoding="ascii"):
            pass


if __name__ == "__main__":
    unittest.main()
