// Options: binding words, refusing them, and the syntax line.
#include "command/options.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

struct Bound {
  bool stat = false;
  bool watch = false;
  std::optional<std::int32_t> version;
  std::string path;
  std::optional<std::string> data;
  std::vector<std::string> surplus;
};

Bound parse(const std::vector<std::string>& words, const std::vector<bool>& quoted = {}) {
  Bound bound;
  Options o;
  o.flag("-s,--stat", bound.stat, "");
  o.flag("-w", bound.watch, "");
  o.number("-v", bound.version, "version", "");
  o.node("path", bound.path, "");
  o.text("data", bound.data, "");
  o.parse(words, quoted);
  bound.surplus = o.surplus();
  return bound;
}

std::string refusal(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, StandAnywhereAndInClusters) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"-s", "-w", "/a", "x"},
                                                                 {"/a", "x", "-sw"},
                                                                 {"-ws", "/a", "x"},
                                                                 {"/a", "-w", "x", "--stat"},
                                                                 {"-s", "-s", "/a", "-w", "x"}}) {
    const auto bound = parse(words);
    EXPECT_TRUE(bound.stat && bound.watch);
    EXPECT_EQ(bound.path, "/a");
    EXPECT_EQ(bound.data, "x");
  }
}

TEST(Options, AQuotedWordIsDataAndNothingElse) {
  const auto value = parse({"-w", "/a", "-s"}, {false, false, true});
  EXPECT_TRUE(value.watch && !value.stat);
  EXPECT_EQ(value.data, "-s");
  const auto dashes = parse({"/a", "--", "-s"}, {false, true});
  EXPECT_TRUE(dashes.stat);
  EXPECT_EQ(dashes.data, "--");
  const auto same = parse({"-s", "/a", "-s"}, {false, false, true});
  EXPECT_TRUE(same.stat);
  EXPECT_EQ(same.data, "-s");
}

TEST(Options, ADigitBehindFlagsIsNoWordOfItsOwn) {
  EXPECT_EQ(refusal({"-s1", "/a"}), "unknown option -s1");
  EXPECT_EQ(refusal({"-sw2", "/a"}), "unknown option -sw2");
}

TEST(Options, AFlagIsNotSwitchedOffByAValue) {
  for (const std::string name : {"-s", "--stat", "-w", "-sw"})
    for (const auto* value : {"=false", "=true", "=0", "="})
      EXPECT_EQ(refusal({name + value, "/a"}), name + " takes no value");
  EXPECT_EQ(parse({"/a", "x=-s"}).data, "x=-s");
  EXPECT_EQ(parse({"/a", "--", "-s=1"}).data, "-s=1");
}

TEST(Options, ValuesAreTakenInEveryFormThatZkCliTakes) {
  EXPECT_EQ(parse({"-v", "5", "/a"}).version, 5);
  EXPECT_EQ(parse({"-v5", "/a"}).version, 5);
  EXPECT_EQ(parse({"-v=5", "/a"}).version, 5);
  EXPECT_EQ(parse({"-sv5", "/a"}).version, 5);
  EXPECT_EQ(parse({"/a", "-v", "-1"}).version, -1);
  EXPECT_EQ(parse({"-v", "+07", "/a"}).version, 7);
  EXPECT_EQ(parse({"-v", "\"7\"", "/a"}).version, 7) << "one pair of quotes is stripped";
  EXPECT_EQ(parse({"-v", "1", "-v", "2", "/a"}).version, 1) << "the first counts";
}

TEST(Options, DataThatLooksLikeANumberIsData) {
  EXPECT_EQ(parse({"/a", "-5"}).data, "-5");
  EXPECT_EQ(parse({"/a", "-"}).data, "-");
  EXPECT_EQ(parse({"/a", ""}).data, "");
  EXPECT_EQ(parse({"/a", "[1,2]"}).data, "[1,2]");
  EXPECT_EQ(parse({"/a", "++"}).data, "++");
  EXPECT_EQ(parse({"/a", "%%"}).data, "%%");
}

TEST(Options, EndAtTwoDashes) {
  EXPECT_EQ(parse({"/a", "--", "-s"}).data, "-s");
  EXPECT_EQ(parse({"--", "-w", "--"}).path, "-w");
  EXPECT_EQ(parse({"--", "-w", "--"}).data, "--");
}

TEST(Options, AValueMayBeTheNameOfAPositional) {
  std::string path;
  std::optional<std::string> value;
  Options o;
  o.text("--if-value", value, "");
  o.node("path", path, "");
  o.parse({"--if-value", "path", "/a"});
  EXPECT_EQ(value, "path");
}

TEST(Options, WhatIsWrongIsNamed) {
  const std::string as_value = " (to use it as a value, put -- before it)";
  EXPECT_EQ(refusal({"-q", "/a"}), "unknown option -q") << "no path begins so";
  EXPECT_EQ(refusal({"/a", "-q"}), "unknown option -q" + as_value);
  EXPECT_EQ(refusal({"/a", "-sq"}), "unknown option -sq" + as_value);
  EXPECT_EQ(refusal({"/a", "b", "-q"}), "unknown option -q") << "there is no place for a value";
  EXPECT_EQ(refusal({"--stta", "/a"}), "unknown option --stta; did you mean --stat?");
  EXPECT_EQ(refusal({"-stta", "/a"}), "unknown option -stta; did you mean --stat?");
  EXPECT_EQ(refusal({"--stt=1", "/a"}), "unknown option --stt=1; did you mean --stat?");
  EXPECT_EQ(refusal({"-v", "1.5", "/a"}), "-v: \"1.5\" is not a whole number");
  EXPECT_EQ(refusal({"-v", "0x2", "/a"}), "-v: \"0x2\" is not a whole number");
  EXPECT_EQ(refusal({"-v", "4294967296", "/a"}),
            "-v: 4294967296 is out of range, -2147483648 to 2147483647");
}

TEST(Options, TooFewWordsAreASyntaxError) {
  EXPECT_THROW(parse({}), SyntaxError);
  EXPECT_THROW(parse({"-s"}), SyntaxError);
  EXPECT_EQ(refusal({"/a", "-v"}), "-v needs a value");
}

TEST(Options, SurplusWordsAreKeptApart) {
  EXPECT_EQ(parse({"/a", "x", "y", "z"}).surplus, (std::vector<std::string>{"y", "z"}));
  EXPECT_TRUE(parse({"/a", "x"}).surplus.empty());
}

TEST(Options, AnOldPositionalNumberCountsOnlyWhenItIsOne) {
  const auto version_of = [](const std::string& word) {
    std::string path;
    std::optional<std::int32_t> version;
    Options o;
    o.node("path", path, "");
    o.legacy().number("version", version, "", "");
    o.parse({"/a", word});
    return version;
  };
  EXPECT_EQ(version_of("3"), 3);
  EXPECT_EQ(version_of("-1"), -1);
  EXPECT_EQ(version_of("x"), std::nullopt);
  EXPECT_THROW(version_of("99999999999"), UsageError);
}

TEST(Options, ProgramTakesTheWordsBehindTwoDashes) {
  std::string path;
  std::vector<std::string> program;
  Options o;
  o.node("path", path, "");
  o.program(program, "");
  o.parse({"/a", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(program, (std::vector<std::string>{"sh", "-c", "exit 7"}));
}

struct Run {
  std::string path;
  std::optional<std::int32_t> wait;
  bool quiet = false;
  std::vector<std::string> program;
};

Run parse_run(const std::vector<std::string>& words) {
  Run run;
  Options o;
  o.number("-w,--wait", run.wait, "seconds", "");
  o.flag("-q", run.quiet, "");
  o.node("path", run.path, "");
  o.program(run.program, "");
  o.parse(words);
  EXPECT_TRUE(o.surplus().empty());
  EXPECT_EQ(syntax_of(o.arguments()), "[-w seconds] [-q] path [program [argument…]]");
  return run;
}

TEST(Options, AProgramBeginsAtTheFirstWordThatNoArgumentTakes) {
  using Words = std::vector<std::string>;
  for (const auto& words : {Words{"/a", "-w", "3", "-q", "ls", "-q", "-w", "x"},
                            Words{"-w3", "-q", "/a", "ls", "-q", "-w", "x"},
                            Words{"-qw", "3", "/a", "ls", "-q", "-w", "x"},
                            Words{"-q", "--wait=3", "/a", "--", "ls", "-q", "-w", "x"}}) {
    const auto run = parse_run(words);
    EXPECT_EQ(run.path, "/a");
    EXPECT_EQ(run.wait, 3);
    EXPECT_TRUE(run.quiet);
    EXPECT_EQ(run.program, (Words{"ls", "-q", "-w", "x"}));
  }
  EXPECT_EQ(parse_run({"/a", "env", "--", "ls"}).program, (Words{"env", "--", "ls"}));
  EXPECT_EQ(parse_run({"/a", "--", "-x"}).program, Words{"-x"});
  EXPECT_FALSE(parse_run({"/a", "ls", "-q"}).quiet);
  EXPECT_TRUE(parse_run({"/a", "-q"}).program.empty());
  EXPECT_THROW(parse_run({"/a", "-x", "ls"}), UsageError) << "no option of its own";
}

TEST(Options, AProgramWantsTwoDashesWhereItsNameCouldBeAnArgument) {
  std::vector<std::string> paths;
  std::vector<std::string> program;
  Options many;
  many.nodes("path", paths, "");
  many.program(program, "");
  many.parse({"/a", "/b", "--", "ls"});
  EXPECT_EQ(paths.size(), 2U);
  EXPECT_EQ(program, std::vector<std::string>{"ls"});
  EXPECT_EQ(syntax_of(many.arguments()), "path… [-- program [argument…]]");

  std::string path;
  std::optional<std::string> data;
  std::vector<std::string> none;
  Options optional;
  optional.node("path", path, "");
  optional.text("data", data, "");
  optional.program(none, "");
  optional.parse({"/a", "x", "ls"});
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(optional.surplus(), std::vector<std::string>{"ls"});
  EXPECT_EQ(syntax_of(optional.arguments()), "path [data] [-- program [argument…]]");
}

TEST(Options, AProgramThatIsNotThereIsNotAProgramThatWentWell) {
  std::string path;
  std::vector<std::string> program;
  Options o;
  o.node("path", path, "");
  o.program(program, "");
  EXPECT_THROW(o.parse({"/a", "--"}), UsageError);
}

TEST(Options, AChoiceIsOneOfThoseThereAre) {
  enum class Number { One, Two, Three };
  constexpr NamedValues<Number, 3> numbers{
      {{"ONE", Number::One}, {"TWO", Number::Two}, {"three", Number::Three}}};
  const auto chosen = [&](const std::string& word) -> std::string {
    std::optional<Number> choice;
    Options o;
    o.choice("-m,--mode", choice, numbers, "mode", "");
    try {
      o.parse({"-m", word});
    } catch (const UsageError& error) {
      return error.what();
    }
    return choice ? std::string(name_of(numbers, *choice)) : "none";
  };
  EXPECT_EQ(chosen("ONE"), "ONE");
  EXPECT_EQ(chosen("two"), "TWO");
  EXPECT_EQ(chosen("Three"), "three");
  EXPECT_EQ(chosen("four"), "invalid mode: \"four\"; use ONE, TWO or three");
  EXPECT_EQ(chosen(""), "invalid mode: \"\"; use ONE, TWO or three");
}

TEST(Options, AChoiceOrATextMayBeBoth) {
  enum class Number { One, Two };
  constexpr NamedValues<Number, 2> numbers{{{"one", Number::One}, {"two", Number::Two}}};
  const auto given = [&](const std::vector<std::string>& words) {
    std::optional<Number> number;
    std::optional<std::string> text;
    Options o;
    o.choice_or_text("--number", number, text, numbers, "number", "");
    o.parse(words);
    return std::pair(number, text);
  };
  EXPECT_EQ(given({"--number", "TWO"}),
            std::pair(std::optional(Number::Two), std::optional<std::string>()));
  EXPECT_EQ(given({"--number=one", "--number", "a b", "--number", "two", "--number=c"}),
            std::pair(std::optional(Number::One), std::optional<std::string>("a b")))
      << "the first of each counts";
}

TEST(Options, SyntaxComesFromTheDeclarations) {
  Bound bound;
  std::string legacy;
  Options o;
  o.flag("-s", bound.stat, "");
  o.number("-v", bound.version, "version", "");
  o.node("path", bound.path, "");
  o.text("data", bound.data, "");
  o.legacy().text("watch", legacy, "");
  EXPECT_EQ(syntax_of(o.arguments()), "[-s] [-v version] path [data]");
}

TEST(ParseNumber, KeepsToItsRange) {
  EXPECT_EQ(parse_number("-9223372036854775808", "n", INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_THROW(parse_number("9223372036854775808", "n", INT64_MIN, INT64_MAX), UsageError);
  EXPECT_THROW(parse_number("", "n", 0, 9), UsageError);
  EXPECT_THROW(parse_number("+-1", "n", -9, 9), UsageError);
  EXPECT_THROW(parse_number("1 ", "n", 0, 9), UsageError);
}

}  // namespace
}  // namespace zksh
