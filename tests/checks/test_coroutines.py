"""Refuses co_await where gcc 12 miscompiles it: in conditions, and with braced lists. src/client/task.h describes the bugs."""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Comments and literals, of which nothing counts; what is left are names, signs and brackets.
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|#[^\n]*', re.S)
TOKEN = re.compile(r"\w+|::|->|\S")
PAIRS = {")": "(", "]": "[", "}": "{"}
CONDITIONS = {"if", "while", "for", "switch"}


class Tokens:
    """A file's tokens, with their lines, and the partner of each bracket."""

    def __init__(self, text):
        # As many lines as before; a digit's separator is no quote.
        text = re.sub(r"(?<=\d)'(?=\d)", "", text)
        text = SKIPPED.sub(lambda match: '""' + "\n" * match[0].count("\n"), text)
        found = list(TOKEN.finditer(text))
        self.words = [match[0] for match in found]
        self.lines = [text.count("\n", 0, match.start()) + 1 for match in found]
        self.partner = {}
        self.inside = []  # the bracket around each
        opened = []
        for place, word in enumerate(self.words):
            self.inside.append(opened[-1] if opened else None)
            if word in PAIRS.values():
                opened.append(place)
            elif word in PAIRS and opened:
                self.partner[place] = opened.pop()
                self.partner[self.partner[place]] = place

    def is_body(self, brace):
        """Whether this { begins a function's, or a lambda's, body or a block, and no list."""
        before = brace - 1
        while before > 0 and self.words[before] not in ("->", "(", ",", ";", "{", "}", "=", "return", "co_return") \
                and self.words[before] not in (")", "]"):
            before -= 1
        word = self.words[before]
        if brace == before + 1:
            return word in (")", "]", ";", "{", "}", "->")
        behind = self.words[before + 1:brace]
        return word == "->" or behind in (["mutable"], ["noexcept"], ["const"], ["else"], ["do"], ["try"])

    def in_condition(self, place):
        bracket = self.inside[place]
        while bracket is not None and not (self.words[bracket] == "{" and self.is_body(bracket)):
            if self.words[bracket - 1] in CONDITIONS or self.words[bracket - 2:bracket] == ["if", "constexpr"]:
                return True
            bracket = self.inside[bracket]
        return False

    def statement(self, place):
        """Of what stands at this place: its first and last token, without the heads of if and for."""
        first = place
        while first > 0:
            word = self.words[first - 1]
            if word in (";", "}") or (word == "{" and self.is_body(first - 1)):
                break
            if word == ")":
                head = self.partner[first - 1]
                if self.words[head - 1] in CONDITIONS:
                    break
                first = head
                continue
            first -= 1
        last = place
        while last < len(self.words) and self.words[last] != ";":
            word = self.words[last]
            if word in ("{", "(", "["):
                last = self.partner.get(last, last)
            last += 1
        return first, last

    def outside_bodies(self, first, last):
        """The places of a statement but for those in lambdas."""
        place = first
        while place < min(last, len(self.words)):
            if self.words[place] == "{" and self.is_body(place):
                place = self.partner.get(place, place)
            else:
                yield place
            place += 1


def faults_of_text(text):
    """(line, what is wrong)"""
    if "co_await" not in text:
        return
    tokens = Tokens(text)
    for place, word in enumerate(tokens.words):
        if word != "co_await":
            continue
        line = tokens.lines[place]
        if tokens.in_condition(place):
            yield line, "co_await in a condition"
            continue
        words = [tokens.words[at] for at in tokens.outside_bodies(*tokens.statement(place))]
        if "?" in words:
            yield line, "co_await with ?:"
        if "{" in words:
            yield line, "co_await with a list in braces"


def faults(root):
    for directory in ("src", "commands", "tests"):
        for path in sorted((root / directory).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                for line, fault in faults_of_text(path.read_text(encoding="utf-8")):
                    yield f"{path.relative_to(root).as_posix()}:{line}: {fault} (name what is awaited first)"


class Coroutines(unittest.TestCase):
    def test_nothing_is_awaited_where_gcc_12_fails(self):
        self.assertIn("co_await", (ROOT / "src/recipes/fair_lock.cpp").read_text(encoding="utf-8"))
        self.assertEqual([], list(faults(ROOT)))


class PlantedFaults(unittest.TestCase):
    BAD = {
        "co_await in a condition": [
            "if (co_await f()) x();", 'if (co_await f("x") == 5) { x(); }', "while (!(co_await f())) x();",
            "switch (co_await f()) { case 1: break; }", "do { x(); } while (co_await f());",
            "if (const auto n = co_await f(); n) x();", "if (a) x(); else if (b && co_await f()) y();",
            "for (const auto& one : co_await f()) x();", "for (; co_await f();) x();",
            "if (g([] { return 1; }) && co_await f()) x();", "if constexpr (co_await f()) x();"],
        "co_await with ?:": [
            "how = co_await f() ? A : B;", "const int n = c ? co_await f() : 0;", "g(c ? 1 : 2, co_await f());",
            "if (c) how = co_await f() ? A : B;", "co_return co_await f() ? 1 : 0;"],
        "co_await with a list in braces": [
            'co_await f({"a", "b"});', "const auto n = co_await f({.a = 1});", "co_await f(A{.b = g()});",
            "co_await f(std::vector<int>{1});", "auto n = co_await f(\n    {1});", "g(co_await f(), {1});",
            "if (c) co_await f({1});", "x = A{co_await f()};", "co_await until([&] { return g({1}); }, {});"],
    }
    GOOD = [
        "if (c) co_await f();", "if (c && d) held = co_await f();", "else\n  x = co_await f();",
        "const bool held = co_await f(); if (held) x();", "while (c ? a : b) co_await f();",
        "for (int i = 0; i < (c ? 1 : 2); ++i) turn = co_await join(i);",
        "co_await until([&](const H& held) { return c ? g({1}) : h{2}; }, due);",
        "co_await f([this]() mutable { return A{1}; });", "co_await f([&]() -> A { return {1}; });",
        "const A a{1}; const auto n = co_await f(a);", "// if (co_await f())\ng();", 'x("if (co_await f())");',
        "try { co_await f(); } catch (...) { x = c ? 1 : 2; }", "A a{1};\nco_await f();", "co_return co_await f();",
        "const auto run = [&]() -> Task<> { x = co_await f(1'000); }; y = A{run()};",
        "if (c) { x = A{1}; }\nco_await f();"]

    @staticmethod
    def found(statement):
        return [fault for _, fault in faults_of_text("Task<> task(int n) {\n  " + statement + "\n}\n")]

    def test_faults_are_found(self):
        for fault, statements in self.BAD.items():
            for statement in statements:
                self.assertEqual([fault], self.found(statement), statement)

    def test_what_is_right_passes(self):
        for statement in self.GOOD:
            self.assertEqual([], self.found(statement), statement)

    def test_the_place_is_told(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "src", "a.cpp")
            path.parent.mkdir()
            path.write_text("// A.\n/* two\n */ R\"(three\n)\";\nFlow<> f() {\n  if (co_await g()) h();\n}\n")
            (fault,) = faults(pathlib.Path(directory))
            self.assertTrue(fault.startswith("src/a.cpp:6: co_await in a condition"), fault)


if __name__ == "__main__":
    unittest.main()
