// Latency: measuring and drawing.
#include "ensemble/latency.h"

#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Times = std::vector<std::chrono::nanoseconds>;

std::vector<MemberLatency> one_member() {
  std::vector<MemberLatency> members(1);
  members.front().name = "fake";
  members.front().address.host = "fake";
  return members;
}

TEST(Latency, EachProbeOfEachRound) {
  FakeTree tree;
  FakeClient client(tree);
  auto members = one_member();
  measure_latency(client, members, {.rounds = 7, .write = true}, {});
  const auto& probes = members.front().probes;
  EXPECT_EQ(members.front().problem, "");
  ASSERT_THAT(probes, SizeIs(3));
  for (const auto& probe : probes) {
    EXPECT_THAT(probe.times, SizeIs(7)) << name_of(probe_names, probe.probe);
    EXPECT_EQ(probe.problem, "");
  }
  EXPECT_THAT(client.children("/", Watch::none(), {}).names.strings(),
              testing::Not(testing::Contains(HasSubstr("latency"))))
      << "the node has gone with the session";
}

TEST(Latency, WithoutWritingNothingIsMade) {
  FakeTree tree;
  FakeClient client(tree);
  auto members = one_member();
  measure_latency(client, members, {.rounds = 1}, {});
  EXPECT_THAT(members.front().probes, SizeIs(2));
}

TEST(Latency, AParentThatIsMissing) {
  FakeTree tree;
  FakeClient client(tree);
  auto members = one_member();
  measure_latency(client, members, {.rounds = 2, .write = true, .parent = "/none"}, {});
  const auto& probes = members.front().probes;
  EXPECT_THAT(probes[0].times, SizeIs(2)) << "the others are measured";
  EXPECT_THAT(probes[2].times, IsEmpty());
  EXPECT_THAT(probes[2].problem, HasSubstr("/none"));
}

TEST(Latency, WhoHasAProblemIsLeftOut) {
  FakeTree tree;
  FakeClient client(tree);
  auto members = one_member();
  members.front().problem = "gone";
  measure_latency(client, members, {.rounds = 1}, {});
  EXPECT_THAT(members.front().probes, IsEmpty());
}

TEST(Latency, AStopKeepsWhatWasMeasured) {
  FakeTree tree;
  FakeClient client(tree);
  auto members = one_member();
  std::stop_source stop;
  stop.request_stop();
  measure_latency(client, members, {.rounds = 5}, stop.get_token());
  EXPECT_THAT(members.front().probes[0].times, IsEmpty());
}

TEST(Histogram, CountsByFactors) {
  const Histogram histogram(100us, 1600us, 4);
  EXPECT_THAT(histogram.count(Times{100us, 150us, 250us, 1600us, 1599us}), ElementsAre(2, 1, 0, 2));
  EXPECT_EQ(histogram.bound(0), 100us);
  EXPECT_EQ(histogram.bound(1), 200us);
  EXPECT_EQ(histogram.bound(4), 1600us);
}

TEST(Histogram, OfOneTime) {
  const Histogram histogram(100us, 100us, 3);
  EXPECT_THAT(histogram.count(Times{100us, 100us}), ElementsAre(2, 0, 0));
}

TEST(Histogram, Bars) {
  EXPECT_EQ(bars({0, 1, 8, 1000}, false), " ▁▁█");
  EXPECT_EQ(bars({0, 1, 500, 1000}, true), " .=@");
  EXPECT_EQ(bars({}, true), "");
  EXPECT_EQ(bars({0}, true), " ");
}

}  // namespace
}  // namespace zksh
