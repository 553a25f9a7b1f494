// TreeDrawing: branches, marks and the summary; and the walk that it draws.
#include "tree/tree_drawing.h"

#include "base/number.h"
#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::ElementsAre;

class TreeDrawingTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto* path : {"/a", "/a/c", "/a/b", "/a/b/y", "/a/b/x", "/a/b/x/deep"})
      client.create({.path = path, .data = std::string(1500, 'x')}, {});
    client.create({.path = "/a/c/e\n", .data = {}, .mode = CreateMode::Ephemeral}, {});
  }
  std::vector<std::string> lines(TreeStyle style) {
    TreeDrawing drawing(style);
    std::vector<std::string> all;
    const auto enter = [&](const TreeNode& node) { all.push_back(drawing.line(node)); };
    walk_tree(client, {.tops = {"/a"}, .depth = style.depth, .enter = enter}, {});
    all.push_back(drawing.summary());
    return all;
  }

  FakeTree server;
  FakeClient client{server};
};

TEST_F(TreeDrawingTest, Branches) {
  EXPECT_THAT(lines({.depth = any_depth}),
              ElementsAre("/a", "├── b", "│   ├── x", "│   │   └── deep", "│   └── y", "└── c",
                          "    └── $'e\\n'  (ephemeral)", "7 nodes, 1 ephemeral"));
}

TEST_F(TreeDrawingTest, AsciiWithCountsAndSizes) {
  EXPECT_THAT(lines({.ascii = true, .counts = true, .sizes = true, .depth = 1}),
              ElementsAre("/a  (1.5 KiB, 2 children)", "|-- b  (1.5 KiB, 2 children)",
                          "`-- c  (1.5 KiB, 1 child)", "3 nodes, 0 ephemeral, 4.4 KiB"));
}

TEST_F(TreeDrawingTest, WhereTheDepthEndsTheChildrenAreCounted) {
  EXPECT_THAT(lines({.depth = 1}),
              ElementsAre("/a", "├── b  (2 children)", "└── c  (1 child)", "3 nodes, 0 ephemeral"));
  EXPECT_THAT(lines({.depth = 0}), ElementsAre("/a  (2 children)", "1 node, 0 ephemeral"));
}

TEST_F(TreeDrawingTest, Colours) {
  EXPECT_THAT(
      lines({.color = true, .depth = 1}),
      ElementsAre("\x1b[1;34m/a\x1b[0m", "├── \x1b[1;34mb\x1b[0m  \x1b[2m(2 children)\x1b[0m",
                  "└── \x1b[1;34mc\x1b[0m  \x1b[2m(1 child)\x1b[0m", "3 nodes, 0 ephemeral"));
}

TEST_F(TreeDrawingTest, ANodeThatVanishesIsLeftOut) {
  FakeClient other{server};
  client.before_request(2, [&] { other.remove({.path = "/a/b/y"}, {}); });
  const auto all = lines({.depth = any_depth});
  EXPECT_EQ(all.back(), "6 nodes, 1 ephemeral");
}

TEST_F(TreeDrawingTest, AMissingTopIsAnError) {
  const auto visit_nothing = [&] { walk_tree(client, {.tops = {"/none"}}, {}); };
  EXPECT_THROW(visit_nothing(), ZkError);
}

TEST_F(TreeDrawingTest, WhatMayNotBeListedIsMarked) {
  client.create({.path = "/a/z", .data = {}, .acl = {{perm::all & ~perm::read, "world", "anyone"}}},
                {});
  client.create({.path = "/a/z/hidden", .data = {}}, {});
  const auto all = lines({.depth = any_depth});
  EXPECT_EQ(all[all.size() - 2], "└── z  (1 child, not readable)");
}

TEST_F(TreeDrawingTest, AHiddenStatIsNotTakenForZeros) {
  TreeDrawing drawing({.counts = true, .sizes = true, .depth = 0});
  EXPECT_EQ(drawing.line({.path = "/a", .stat_readable = false}), "/a  (not readable)");
}

TEST(SizeText, Units) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(5LL * 1024 * 1024), "5.0 MiB");
}

}  // namespace
}  // namespace zksh
