// Node paths: expects the results of PathUtils.validatePath of ZooKeeper 3.8.0.
#include "client/node_path.h"

#include "base/error.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::string_literals;

std::string flaw(const std::string& path) { return path_flaw(path).value_or("none"); }

/// The flaw without the quoted path.
std::string cause(const std::string& path) {
  const auto text = flaw(path);
  const auto quoted = "Invalid path string \"" + path + "\" caused by ";
  return text.rfind(quoted, 0) == 0 ? text.substr(quoted.size()) : text;
}

TEST(PathFlaw, AcceptsWellFormedPaths) {
  for (const auto* path : {"/", "/a", "/a/b", "/a b", "/...", "/a.", "/.a", "/..a/b..", "/a/.b.",
                           "/é", "/\u00A0", "/\uD7FF", "/\uF900", "/\uFFEF", "/a\"b"}) {
    EXPECT_EQ(flaw(path), "none") << path;
  }
}

TEST(PathFlaw, LooksAtTheEndsFirst) {
  EXPECT_EQ(flaw(""), "Path length must be > 0");
  EXPECT_EQ(flaw("a"), "Path must start with / character");
  EXPECT_EQ(flaw("a//"), "Path must start with / character");
  EXPECT_EQ(flaw("\xFF"), "Path must start with / character");
  EXPECT_EQ(flaw("//"), "Path must not end with / character");
  EXPECT_EQ(flaw("/a//b/"), "Path must not end with / character");
}

TEST(PathFlaw, QuotesThePathAsTyped) {
  EXPECT_EQ(flaw("/a//b"), "Invalid path string \"/a//b\" caused by empty node name specified @3");
  EXPECT_EQ(flaw("/a\xFF"), "Invalid path string \"/a\xFF\" caused by invalid character @2");
}

TEST(PathFlaw, AnExceptionsTextIsNotCutAtANullByte) {
  EXPECT_EQ(flaw("/a\0b"s),
            "Invalid path string \"/a\\x00b\" caused by null character not allowed @2");
}

TEST(PathFlaw, RefusesRelativeSegmentsOnly) {
  EXPECT_EQ(cause("/."), "relative paths not allowed @1");
  EXPECT_EQ(cause("/.."), "relative paths not allowed @2");
  EXPECT_EQ(cause("/./a"), "relative paths not allowed @1");
  EXPECT_EQ(cause("/../a"), "relative paths not allowed @2");
  EXPECT_EQ(cause("/a/.."), "relative paths not allowed @4");
  EXPECT_EQ(cause("/a/./b"), "relative paths not allowed @3");
  EXPECT_EQ(cause("/a/.../.."), "relative paths not allowed @8");
}

TEST(PathFlaw, RefusesTheEndsOfEveryForbiddenRange) {
  for (const auto* c : {"\x01", "\x1F", "\x7F", "\u0080", "\u009F", "\uE000", "\uF8FF", "\uFFF0",
                        "\uFFFD", "\uFFFF", "\U00010000", "\U0001F600", "\U0010FFFF"}) {
    EXPECT_EQ(cause("/x"s + c), "invalid character @2") << c;
  }
}

TEST(PathFlaw, BytesThatAreNotUtf8AreInvalidCharacters) {
  for (const auto* bytes :
       {"\xFF", "\xC3", "\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_EQ(cause("/x"s + bytes), "invalid character @2") << bytes;
  }
}

TEST(PathFlaw, CountsUtf16UnitsAndNotBytes) {
  EXPECT_EQ(cause("/é/中//b"), "empty node name specified @5");
  EXPECT_EQ(cause("/é\x01"), "invalid character @2");
}

TEST(PathFlaw, TellsTheFirstOffenceFromTheLeft) {
  EXPECT_EQ(cause("/a\x01//b"), "invalid character @2");
  EXPECT_EQ(cause("/a//\x01"), "empty node name specified @3");
  EXPECT_EQ(cause("/./\x01"), "relative paths not allowed @1");
}

TEST(CheckPath, ChecksASequentialNodeWithADigitAppended) {
  EXPECT_NO_THROW(check_path("/p/", true));
  EXPECT_NO_THROW(check_path("/p/.", true));
  EXPECT_THROW(check_path("/p/", false), UsageError);
  try {
    check_path("/p//", true);
    FAIL() << "accepted";
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "Invalid path string \"/p//1\" caused by empty node name specified @3");
    EXPECT_EQ(e.exit_status(), status::usage);
  }
}

TEST(PathParts, JoinAndTakeApart) {
  EXPECT_EQ(join_path("/a", "b"), "/a/b");
  EXPECT_EQ(join_path("/", "b"), "/b");
  EXPECT_EQ(parent_path("/a/b"), "/a");
  EXPECT_EQ(parent_path("/a"), "/");
  EXPECT_EQ(parent_path("/"), "/");
  EXPECT_EQ(base_name("/a/b"), "b");
  EXPECT_EQ(base_name("/a"), "a");
  EXPECT_EQ(base_name("/"), "");
}

}  // namespace
TEST(NodePath, RelativePathsBeginAtTheirBase) {
  EXPECT_EQ(absolute_path("/", "a"), "/a");
  EXPECT_EQ(absolute_path("/a", "b/c"), "/a/b/c");
  EXPECT_EQ(absolute_path("/a/b", ".."), "/a");
  EXPECT_EQ(absolute_path("/a", ".."), "/");
  EXPECT_EQ(absolute_path("/a", "../../../b"), "/b");
  EXPECT_EQ(absolute_path("/a", "."), "/a");
  EXPECT_EQ(absolute_path("/a", "./b/./../c"), "/a/c");
  EXPECT_EQ(absolute_path("/a", "/b/../c"), "/c");
  EXPECT_EQ(absolute_path("/a", "/"), "/");
  EXPECT_EQ(absolute_path("/a", "..."), "/a/...");
}

TEST(NodePath, WhatIsMalformedStaysSo) {
  EXPECT_EQ(absolute_path("/a", ""), "");
  EXPECT_EQ(absolute_path("/a", "b//c"), "/a/b//c");
  EXPECT_EQ(absolute_path("/a", "b/"), "/a/b/");
  EXPECT_EQ(absolute_path("/a", "//"), "//");
}

TEST(NodePath, WithoutTheChroot) {
  EXPECT_EQ(whole_path("", "/"), "/");
  EXPECT_EQ(whole_path("/app", "/"), "/app");
  EXPECT_EQ(whole_path("/app", "/a"), "/app/a");
}

}  // namespace zksh
