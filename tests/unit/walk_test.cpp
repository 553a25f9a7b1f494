// Walk: its order, its limits, and lost connections and nodes.
#include "tree/walk.h"

#include "base/error.h"
#include "client/forwarding_client.h"
#include "failures.h"
#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace zksh {
namespace {

using testing::ElementsAre;

class WalkTest : public testing::Test {
 protected:
  void make(const std::string& path, const std::string& data = "x", const Acl& acl = open_acl()) {
    other.create({.path = path, .data = data, .acl = acl}, {});
  }
  std::vector<std::string> entered(WalkPlan plan) {
    std::vector<std::string> paths;
    plan.enter = [&](const TreeNode& node) { paths.push_back(node.path); };
    walk_tree(client, plan, {});
    return paths;
  }
  /// /a with `width` children, and so on, `depth` levels deep; in the order of a walk.
  std::vector<std::string> make_tree(const std::string& top, int depth, int width) {
    make(top);
    std::vector<std::string> paths{top};
    for (int i = 0; depth > 0 && i < width; ++i)
      std::ranges::move(make_tree(top + "/" + std::to_string(i), depth - 1, width),
                        std::back_inserter(paths));
    return paths;
  }

  FakeTree server;
  FakeClient other{server};
  FakeClient client{server};
};

TEST_F(WalkTest, ANodeComesBeforeAllBelowItAndSiblingsByName) {
  for (const auto* path : {"/a", "/a/c", "/a/b", "/a/b/y", "/a/b/x", "/a/b/x/deep", "/a/b-"})
    make(path);
  EXPECT_THAT(entered({.tops = {"/a"}}),
              ElementsAre("/a", "/a/b", "/a/b/x", "/a/b/x/deep", "/a/b/y", "/a/b-", "/a/c"));
  EXPECT_THAT(entered({.tops = {"/a"}, .depth = 1}), ElementsAre("/a", "/a/b", "/a/b-", "/a/c"));
  EXPECT_THAT(entered({.tops = {"/a/c", "/a/b/x"}}), ElementsAre("/a/c", "/a/b/x", "/a/b/x/deep"));
}

/// Answers for every node as for /a: a tree without an end.
class EndlessTree final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;
  Pending<Children> start_children(const std::string& /*path*/, const Watch& watch) override {
    return ForwardingClient::start_children("/a", watch);
  }
  Reads start_reads(const std::vector<ReadOp>& ops) override {
    return read_singly(ops, Watch::none());
  }
};

TEST_F(WalkTest, ATreeWithoutAnEndIsRefused) {
  make("/a");
  EndlessTree endless(client);
  std::size_t entered = 0;
  const WalkPlan plan{.tops = {"/a"}, .enter = [&](const TreeNode& /*node*/) { ++entered; }};
  for (const std::size_t siblings : {1U, 2U}) {
    make("/a/" + std::string(4000, static_cast<char>('a' + siblings)));
    EXPECT_THAT(refusal_of([&] { walk_tree(endless, plan, {}); }),
                testing::AllOf(testing::HasSubstr("too large to walk, or endless"),
                               testing::HasSubstr("its paths take more than 512 MiB")))
        << siblings << " siblings: " << entered << " nodes";
  }
}

TEST_F(WalkTest, ALongRowIsNotReadFarAheadOfWhatIsBelow) {
  make("/t");
  for (int i = 0; i < 6'000; ++i)
    for (const auto* below : {"", "/below"}) make("/t/" + std::to_string(10'000 + i) + below);
  client.serve_batches();
  std::size_t entered = 0;
  std::size_t asked = 0;
  std::size_t most = 0;
  walk_tree(
      client,
      {.tops = {"/t"},
       .stats = false,
       .ahead = [&](const std::string& /*path*/) { most = std::max(most, ++asked - entered); },
       .enter = [&](const TreeNode& /*node*/) { ++entered; }},
      {});
  EXPECT_EQ(entered, 12'001U);
  EXPECT_LT(most, 5'000U);
  EXPECT_LT(client.requests(), 200U);
}

TEST_F(WalkTest, TheFirstOfSiblingsTellsWhetherTheOthersAreTakenForLeaves) {
  for (const auto* path : {"/t", "/t/a", "/t/a/1", "/t/a/2", "/t/a/2/hidden", "/t/b", "/t/b/1",
                           "/t/b/1/x", "/t/b/2", "/t/c"})
    make(path);
  std::vector<std::string> seen;
  const auto enter = [&](const TreeNode& node) {
    seen.push_back(node.path + (node.last ? "." : "") + (node.guessed_leaf ? "?" : ""));
    EXPECT_EQ(node.depth, std::ranges::count(node.path, '/') - 1);
  };
  walk_tree(client, {.tops = {"/t"}, .guess_leaves_from = 4, .enter = enter}, {});
  EXPECT_THAT(seen, ElementsAre("/t.", "/t/a", "/t/a/1", "/t/a/2.?", "/t/b", "/t/b/1", "/t/b/1/x.",
                                "/t/b/2.", "/t/c."));
}

TEST_F(WalkTest, LeavesANodeAfterAllBelowIt) {
  for (const auto* path : {"/a", "/a/c", "/a/b", "/a/b/x"}) make(path);
  std::vector<std::string> seen;
  std::vector<std::string> path;
  const auto enter = [&](const TreeNode& node) {
    seen.push_back("+" + node.path);
    path.push_back(node.path);
  };
  const auto leave = [&](std::size_t depth) {
    ASSERT_EQ(path.size(), depth + 1);
    seen.push_back("-" + path.back());
    path.pop_back();
  };
  walk_tree(client, {.tops = {"/a"}, .enter = enter, .leave = leave}, {});
  EXPECT_THAT(seen,
              ElementsAre("+/a", "+/a/b", "+/a/b/x", "-/a/b/x", "-/a/b", "+/a/c", "-/a/c", "-/a"));
}

TEST_F(WalkTest, TheOrderDoesNotDependOnTheWindow) {
  const auto all = make_tree("/t", 5, 4);
  for (const std::size_t window : {1U, 2U, 7U, 256U}) {
    EXPECT_EQ(entered({.tops = {"/t"}, .limits = {.window = window}}), all) << window;
    EXPECT_EQ(entered({.tops = {"/t"}, .data = true, .acls = true, .limits = {.window = window}}),
              all)
        << window;
  }
}

TEST_F(WalkTest, BatchesReadTheSameWithFewRequests) {
  const auto all = make_tree("/t", 5, 4);
  const Acl hidden{{perm::all & ~perm::read, "world", "anyone"}};
  other.set_acl("/t/1", hidden, -1, {});
  const auto walked = [](Client& by, WalkPlan plan) {
    std::string seen;
    plan.tops = {"/t"};
    plan.enter = [&](const TreeNode& node) {
      seen += node.path + (node.readable ? " " : " hidden ") + node.data.value_or("-") +
              std::to_string(plan.stats ? node.stat.num_children : 0) +
              std::to_string(node.children->size()) + "\n";
    };
    walk_tree(by, plan, {});
    return seen;
  };
  client.serve_batches();
  for (const auto& plan : {WalkPlan{}, WalkPlan{.stats = false}, WalkPlan{.data = true},
                           WalkPlan{.depth = 2}, WalkPlan{.depth = 2, .stats = false}}) {
    FakeClient single{server};
    const auto before = client.requests();
    const auto seen = walked(client, plan);
    EXPECT_LT(client.requests() - before, all.size() / 2);
    EXPECT_EQ(seen, walked(single, plan));
  }
}

TEST_F(WalkTest, ARateLimitsWhatIsSentBeforeTheFirstNodeIsVisited) {
  make("/t");
  for (int i = 0; i < 400; ++i) make("/t/" + std::to_string(1000 + i));
  std::size_t sent = 0;
  walk_tree(client,
            {.tops = {"/t"},
             .stats = false,
             .limits = {.rate = 500},
             .enter =
                 [&](const TreeNode& node) {
                   if (node.path == "/t/1000") sent = client.requests();
                 }},
            {});
  EXPECT_GT(sent, 0U);
  EXPECT_LT(sent, 150U) << "of 401: what the rate allows in a fifth of a second, and not 256";
}

/// Notes how many values of which size are read at once.
class LargeReads final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;
  Reads start_reads(const std::vector<ReadOp>& ops) override {
    most = std::max(most, ops.size());
    const auto large = std::ranges::count_if(
        ops, [](const ReadOp& op) { return op.path.find("large") != std::string::npos; });
    most_large = std::max(most_large, static_cast<std::size_t>(large));
    return ForwardingClient::start_reads(ops);
  }
  std::size_t most = 0;
  std::size_t most_large = 0;  ///< by name
};

/// How many large values one request reads at most, for the values and for Stats alone.
std::size_t most_large_below_t(Client& client) {
  LargeReads reads{client};
  for (const bool data : {true, false}) walk_tree(reads, {.tops = {"/t"}, .data = data}, {});
  return reads.most_large;
}

TEST_F(WalkTest, FewLargeValuesAreReadAtOnce) {
  make("/t");
  for (int i = 0; i < 200; ++i) make("/t/" + std::to_string(1000 + i), std::string(1U << 20U, 'x'));
  client.serve_batches();
  LargeReads reads{client};
  const auto walk = [&](bool data) {
    reads.most = 0;
    std::size_t count = 0;
    walk_tree(reads,
              {.tops = {"/t"}, .data = data, .enter = [&](const TreeNode& /*node*/) { ++count; }},
              {});
    EXPECT_EQ(count, 201U);
    return reads.most;
  };
  EXPECT_LE(walk(true), 8U) << "the sizes are not known at first";
  EXPECT_LE(walk(false), 8U) << "Stats alone";
}

TEST_F(WalkTest, LargeNeighboursBehindManySmallOnesAreNotReadAtOnce) {
  make("/t");
  for (int i = 0; i < 6000; ++i) make("/t/" + std::to_string(10000 + i));
  for (int i = 0; i < 40; ++i)
    make("/t/large" + std::to_string(10 + i), std::string(1U << 20U, 'x'));
  client.serve_batches();
  for (const bool data : {true, false}) {
    LargeReads reads{client};
    walk_tree(reads, {.tops = {"/t"}, .data = data}, {});
    EXPECT_GE(reads.most, 32U) << "small ones are";
    EXPECT_LE(reads.most_large, 4U);
  }
}

TEST_F(WalkTest, LargeNeighboursAtTheEndOfALongRowAreNotReadAtOnce) {
  make("/t");
  for (int i = 0; i < 40; ++i)
    make("/t/large" + std::to_string(10 + i), std::string(1U << 20U, 'x'));
  client.serve_batches();
  // With some of these numbers, hardly any but the large ones are left at the end.
  for (int count = 0; count < 8300; ++count) {
    make("/t/" + std::to_string(10000 + count));
    if (count < 8000 || count % 16 != 0) continue;
    EXPECT_LE(most_large_below_t(client), 20U) << count;
  }
}

TEST_F(WalkTest, LargeNeighboursAmongKilobytesAreNotReadAtOnce) {
  make("/t");
  for (int i = 0; i < 6000; ++i) make("/t/" + std::to_string(10000 + i), std::string(2000, 'x'));
  for (int i = 0; i < 40; ++i)
    make("/t/11500large" + std::to_string(10 + i), std::string(1U << 20U, 'x'));
  client.serve_batches();
  EXPECT_LE(most_large_below_t(client), 16U);
}

TEST_F(WalkTest, ReadsValuesAndAcls) {
  make("/a", "one");
  make("/a/b", "two", {{perm::all, "world", "anyone"}, {perm::read, "ip", "10.0.0.1"}});
  std::vector<std::string> seen;
  walk_tree(client,
            {.tops = {"/a"},
             .data = true,
             .acls = true,
             .enter =
                 [&](const TreeNode& node) {
                   seen.push_back(node.path + " " + node.data.value_or("?") + " " +
                                  std::to_string(node.acl.size()));
                 }},
            {});
  EXPECT_THAT(seen, ElementsAre("/a one 1", "/a/b two 2"));
}

TEST_F(WalkTest, WhatVanishesIsLeftOutWithAllBelow) {
  make_tree("/t", 2, 2);
  client.before_request(3, [&] {  // after the top and its first child
    for (const auto* path : {"/t/1/0", "/t/1/1", "/t/1"}) other.remove({.path = path}, {});
  });
  EXPECT_THAT(entered({.tops = {"/t"}, .limits = {.window = 1}}),
              ElementsAre("/t", "/t/0", "/t/0/0", "/t/0/1"));
}

TEST_F(WalkTest, AMissingTopIsAnErrorUnlessItMayBe) {
  EXPECT_THROW(entered({.tops = {"/none"}}), ZkError);
  make("/a");
  EXPECT_THAT(entered({.tops = {"/none", "/a"}, .may_be_missing = true}), ElementsAre("/a"));
}

TEST_F(WalkTest, WhatMayNotBeReadIsVisitedAndMarked) {
  const Acl hidden{{perm::all & ~perm::read, "world", "anyone"}};
  make("/a");
  make("/a/b", "x", hidden);
  make("/a/b/c");
  make("/a/d");
  for (const bool data : {false, true}) {
    std::vector<std::string> seen;
    walk_tree(client,
              {.tops = {"/a"},
               .data = data,
               .enter =
                   [&](const TreeNode& node) {
                     seen.push_back(node.path + (node.readable ? "" : " hidden ") +
                                    std::to_string(node.stat.num_children));
                   }},
              {});
    EXPECT_THAT(seen, ElementsAre("/a2", "/a/b hidden 1", "/a/d0"));
  }
}

TEST_F(WalkTest, EveryRequestMayBeLostOnce) {
  const auto all = make_tree("/t", 3, 3);
  const auto before = client.requests();
  entered({.tops = {"/t"}, .data = true, .acls = true});
  const auto count = client.requests() - before;
  ASSERT_GT(count, 80);
  for (std::size_t number = 1; number <= count; ++number)
    for (const auto loss : {FakeClient::Loss::OfAnswer, FakeClient::Loss::OfSession}) {
      FakeClient loser{server};
      loser.lose(number, FakeClient::When::BeforeItIsApplied, loss);
      std::vector<std::string> paths;
      walk_tree(loser,
                {.tops = {"/t"},
                 .data = true,
                 .acls = true,
                 .enter = [&](const TreeNode& node) { paths.push_back(node.path); }},
                {});
      EXPECT_EQ(paths, all) << number;
    }
}

TEST_F(WalkTest, AStopEndsIt) {
  make_tree("/t", 3, 3);
  std::stop_source source;
  const WalkPlan plan{.tops = {"/t"},
                      .limits = {.window = 1},
                      .enter = [&](const TreeNode& /*node*/) { source.request_stop(); }};
  EXPECT_THROW(walk_tree(client, plan, source.get_token()), Cancelled);
}

TEST_F(WalkTest, AnErrorComesAfterTheVisitsBeforeIt) {
  make_tree("/t", 1, 3);
  std::vector<std::string> paths;
  client.fail_request(3, FakeClient::When::BeforeItIsApplied, code::system_error);
  const WalkPlan plan{.tops = {"/t"},
                      .enter = [&](const TreeNode& node) { paths.push_back(node.path); }};
  try {
    walk_tree(client, plan, {});
    ADD_FAILURE() << "it went on";
  } catch (const ZkError& error) {
    EXPECT_EQ(error.path(), "/t/1");
  }
  EXPECT_THAT(paths, ElementsAre("/t", "/t/0"));
}

TEST_F(WalkTest, AsFarAsLsRecursiveGoes) {
  for (const auto* path : {"/a", "/a/c", "/a/b", "/a/b/x", "/a/c/y"}) make(path);
  std::vector<std::string> paths;
  visit_subtree(client, "/a", Watch::none(), {},
                [&](const std::string& path) { paths.push_back(path); }, {});
  EXPECT_THAT(paths, ElementsAre("/a", "/a/b", "/a/c", "/a/b/x", "/a/c/y"));
}

}  // namespace
}  // namespace zksh
