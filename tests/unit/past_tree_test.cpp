// Snapshot, PastTree and Replay: a tree as it was, from whole and damaged files.
#include "txnlog/past_tree.h"

#include "base/error.h"
#include "base/zlib.h"
#include "txnlog/replay.h"
#include "txnlog_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Optional;
using testing::UnorderedElementsAre;

/// A snapshot of the root and /a, whose ACL has the number 4, with a list of what has 2 and 3.
std::string numbered_snapshot() {
  const std::string stat(60, '\0');
  const auto acl = [](const std::string& id) {
    return jute_int(1) + jute_int(31) + jute_text("ip") + jute_text(id);
  };
  std::string bytes = "ZKSN" + jute_int(2) + jute_long(-1) + jute_int(0) + jute_int(2);
  bytes += jute_long(2) + acl("::2") + jute_long(3) + jute_int(0);
  for (const auto& [path, number] : {std::pair("", -1), {"/a", 4}, {"/b", 3}, {"/c", 2}})
    bytes += jute_text(path) + jute_text("") + jute_long(number) + stat;
  bytes += jute_text("/");
  bytes += jute_long(adler32_of(bytes)) + jute_text("/");
  bytes += jute_long(6) + jute_int(2) + jute_long(0);
  return bytes + jute_long(adler32_of(bytes)) + jute_text("/");
}

std::string ip_create_body(std::int64_t zxid, const std::string& path, const std::string& id) {
  return txn_body(zxid, 1,
                  jute_text(path) + jute_text("") + jute_int(1) + jute_int(31) + jute_text("ip") +
                      jute_text(id) + '\0' + jute_int(-1));
}

std::string acl_id(const PastTree& tree, std::string_view path) {
  const auto acl = tree.acl_of(*tree.find(path));
  return acl.empty() ? "unknown" : acl.front().id;
}

/// A snapshot at 10, complete at 11, and logs from 9 to 14, with the one before it.
struct Files {
  LogDirectory directory{};
  Files() {
    directory.write("snapshot.a", snapshot_bytes({{"/a", "old"}}, 11));
    directory.write("log.9", log_bytes({set_body(9, "/a", "9", 1), set_body(10, "/a", "old", 2),
                                        create_body(11, "/a/b", "b")}));
    directory.write("log.c", log_bytes({set_body(12, "/a", "new", 3),
                                        create_body(13, "/e", "", true), delete_body(14, "/a/b")}));
  }
  Replay at(std::int64_t until) const {
    return replay(DataFiles({directory.path()}), {.until = until});
  }
};

std::string why_not(const Files& files, std::int64_t until) {
  try {
    files.at(until);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A snapshot of a server to 3.5, which does not say how long it was written.
std::string old_snapshot() {
  constexpr std::size_t digest_size = 33;
  const auto bytes = snapshot_bytes({}, 0);
  return bytes.substr(0, bytes.size() - digest_size);
}

std::vector<std::string> deleted_by_the_end(const LogDirectory& directory, std::int64_t zxid) {
  const DataFiles files({directory.path()});
  SessionEnds ends(files, {});
  return ends.ephemerals(parsed(txn_body(zxid, -11, "", 7, 0)));
}

TEST(SessionEnds, ASnapshotLacksWhatWasDeletedWhileItWasWritten) {
  const LogDirectory directory;
  const auto end = txn_body(3, -11, "", 7, 0);
  directory.write("snapshot.0", old_snapshot());
  directory.write("snapshot.2", old_snapshot());
  directory.write("log.1",
                  log_bytes({create_body(1, "/w", "", true, 7), set_body(2, "/w", "", 1)}));
  directory.write("log.3", log_bytes({end}));
  EXPECT_THAT(deleted_by_the_end(directory, 3), testing::ElementsAre("/w"));
  // What the logs lack may have deleted it: the newest snapshot is believed.
  directory.write("log.1", log_bytes({create_body(1, "/w", "", true, 7)}));
  EXPECT_THAT(deleted_by_the_end(directory, 3), testing::IsEmpty());
}

TEST(SessionEnds, AServerWritesOneSnapshotAtATime) {
  const LogDirectory directory;
  directory.write("snapshot.2", old_snapshot());
  directory.write("snapshot.4", old_snapshot());
  directory.write("log.1", log_bytes({create_body(1, "/w", "", true, 7), set_body(2, "/w", "", 1),
                                      create_body(3, "/x", "", true, 7), set_body(4, "/x", "", 1),
                                      txn_body(5, -11, "", 7, 0)}));
  EXPECT_THAT(deleted_by_the_end(directory, 5), testing::ElementsAre("/x"));
}

TEST(Replay, TheTreeAtEachZxid) {
  const Files files;
  EXPECT_EQ(files.at(11).tree.find("/a/b")->data, "b");
  EXPECT_EQ(files.at(11).tree.find("/a")->data, "old");
  EXPECT_FALSE(files.at(11).fuzzy);
  EXPECT_EQ(files.at(12).tree.find("/a")->data, "new");
  EXPECT_EQ(files.at(12).tree.find("/e"), nullptr);
  EXPECT_TRUE(files.at(13).tree.find("/e"));
  EXPECT_EQ(files.at(14).tree.find("/a/b"), nullptr);
  EXPECT_EQ(files.at(INT64_MAX).zxid, 14);
  EXPECT_THAT(files.at(12).tree.below("/a"), UnorderedElementsAre("/a", "/a/b"));
  EXPECT_THAT(files.at(12).tree.below("/"), UnorderedElementsAre("/", "/a", "/a/b", "/zookeeper"));
}

TEST(Replay, ASnapshotThatWasBeingWrittenIsFuzzy) {
  const Files files;
  EXPECT_THAT(files.at(10).fuzzy, Optional(EndsWith("up to 0xb, which is later")));
  const LogDirectory alone;
  alone.write("snapshot.a", snapshot_bytes({}, 11));
  EXPECT_THAT(replay(DataFiles({alone.path()}), {}).fuzzy,
              Optional(EndsWith("up to 0xb, and the logs do not reach that far")));
  EXPECT_EQ(DataFiles({alone.path() + "/"}).places_text(), alone.path());
  alone.write("snapshot.a", snapshot_bytes({}, 10));
  EXPECT_FALSE(replay(DataFiles({alone.path()}), {}).fuzzy);
}

TEST(Replay, RefusesAGapByItsZxids) {
  const Files files;
  files.directory.write("log.9", log_bytes({set_body(9, "/a", "9", 1), set_body(10, "/a", "", 2)}));
  EXPECT_THAT(why_not(files, 12), HasSubstr("after 0xa and before 0xc are missing"));
  EXPECT_THAT(why_not(files, 9), HasSubstr("no readable snapshot of 0x9"));
  EXPECT_THAT(why_not(files, 20), HasSubstr("missing"));
}

constexpr std::int64_t second_epoch = std::int64_t{1} << 32U;

/// The zxid, or why there is none; the time of a transaction is 1,000,000 and its zxid.
std::string at_time(const LogDirectory& directory, std::int64_t time) {
  try {
    return std::to_string(zxid_at(DataFiles({directory.path()}), {.time = time}, {}));
  } catch (const Error& error) {
    return error.what();
  }
}

/// A lost log between two snapshots, of which the first was complete at 5.
TEST(Replay, RefusesAMomentInAGap) {
  const Files files;
  const auto& directory = files.directory;
  directory.write("snapshot.4", snapshot_bytes({{"/a", "older"}}, 5));
  directory.write("log.3", log_bytes({set_body(3, "/a", "", 1), set_body(4, "/a", "older", 2),
                                      set_body(5, "/a", "5", 3)}));
  EXPECT_EQ(why_not(files, 5), "");
  EXPECT_THAT(why_not(files, 7), HasSubstr("after 0x5 and before 0x9 are missing"));
  EXPECT_EQ(at_time(directory, 1'000'004), "4");
  EXPECT_THAT(at_time(directory, 1'000'005 + 2), HasSubstr("after 0x5 and before 0x9 are missing"));
  directory.write("log.6", "");
  EXPECT_THAT(why_not(files, 7), HasSubstr("after 0x5 and before 0x9 are missing"));
  directory.write("log.3", "");
  EXPECT_THAT(why_not(files, 5), HasSubstr("after 0x4 and before 0x9 are missing"));
  EXPECT_EQ(why_not(files, 12), "");
}

TEST(Replay, ASnapshotShowsThatTheLogsDoNotReachIt) {
  const LogDirectory directory;
  directory.write("snapshot.4", snapshot_bytes({{"/a", "4"}}, 4));
  directory.write("log.4", log_bytes({set_body(4, "/a", "4", 2), set_body(5, "/a", "5", 3)}));
  directory.write("snapshot.9", snapshot_bytes({{"/a", "9"}}, 9));
  const DataFiles files({directory.path()});
  EXPECT_THROW(replay(files, {.until = 7}), Error);
  EXPECT_EQ(replay(files, {.until = 5}).zxid, 5);
  EXPECT_EQ(replay(files, {}).zxid, 9);
  EXPECT_THAT(at_time(directory, 2'000'000), HasSubstr("after 0x5 and before 0xa are missing"));
  // The next epoch's first transaction does not show that 9 is missing; the snapshot does.
  directory.write("log.100000001", log_bytes({set_body(second_epoch + 1, "/a", "x", 9)}));
  EXPECT_THROW(replay(DataFiles({directory.path()}), {.until = 7}), Error);
  EXPECT_EQ(replay(DataFiles({directory.path()}), {.until = 12}).zxid, 9);
}

TEST(Replay, BetweenTwoEpochsNothingIsMissing) {
  const LogDirectory directory;
  directory.write("snapshot.4", snapshot_bytes({{"/a", "4"}}, 4));
  directory.write("snapshot.100000000", snapshot_bytes({{"/a", "5"}}, second_epoch));
  auto first = log_bytes({set_body(4, "/a", "4", 2), set_body(5, "/a", "5", 3)});
  directory.write("log.4", first);
  directory.write("log.100000001", log_bytes({set_body(second_epoch + 1, "/a", "x", 9)}));
  EXPECT_EQ(replay(DataFiles({directory.path()}), {.until = 7}).zxid, 5);
  EXPECT_EQ(at_time(directory, 1'000'006), "5");
  first[first.size() - 3] ^= 1;
  directory.write("log.4", first);
  EXPECT_THROW(replay(DataFiles({directory.path()}), {.until = 7}), Error);
  EXPECT_THAT(at_time(directory, 1'000'006), HasSubstr("missing"));
}

TEST(Replay, TellsOfATimeAfterTheEnd) {
  const Files files;
  const auto text_at = [&](std::int64_t time) {
    const Moment moment{.time = time};
    const DataFiles data({files.directory.path()});
    return end_text(files.at(zxid_at(data, moment, {})), moment).value_or("");
  };
  EXPECT_THAT(text_at(1'000'015), HasSubstr("the files end at 0xe, "));
  EXPECT_EQ(text_at(1'000'014), "");
  EXPECT_EQ(text_at(1'000'013), "");
  EXPECT_EQ(end_text(files.at(INT64_MAX), {}), std::nullopt);
}

TEST(Replay, RefusesDamageAtTheEnd) {
  const Files files;
  auto bytes = log_bytes({set_body(12, "/a", "new", 3), delete_body(13, "/a/b")});
  bytes[bytes.size() - 3] ^= 1;
  files.directory.write("log.c", bytes);
  EXPECT_EQ(why_not(files, 12), "");
  EXPECT_THAT(why_not(files, INT64_MAX), HasSubstr("checksum"));
  EXPECT_THAT(why_not(files, 13), HasSubstr("checksum"));
}

TEST(Replay, PassesOverDamagedSnapshots) {
  const Files files;
  files.directory.write("snapshot.c", snapshot_bytes({{"/wrong", ""}}, 12, true));
  files.directory.write("snapshot.d", snapshot_bytes({{"/cut", ""}}, 13).substr(0, 150));
  std::vector<std::string> skipped;
  const auto replayed =
      replay(DataFiles({files.directory.path()}),
             {.skipped = [&](const std::string& text) { skipped.push_back(text); }});
  EXPECT_EQ(replayed.snapshot.zxid, 10);
  EXPECT_THAT(skipped, testing::ElementsAre(HasSubstr("cut off"), HasSubstr("wrong checksum")));
}

TEST(Replay, GoesOnWithoutSnapshotsFromTheFirstTransactionOn) {
  const LogDirectory directory;
  directory.write("log.1", log_bytes({create_body(1, "/a", "x"), set_body(2, "/a", "y", 1)}));
  directory.write("snapshot.1", snapshot_bytes({}, 1, true));
  std::vector<std::string> skipped;
  const auto replayed =
      replay(DataFiles({directory.path()}),
             {.skipped = [&](const std::string& text) { skipped.push_back(text); }});
  EXPECT_EQ(replayed.tree.find("/a")->data, "y");
  EXPECT_EQ(replayed.tree.find("/")->data, "");  // as servers have it, not null
  EXPECT_THAT(skipped, testing::ElementsAre(HasSubstr("wrong checksum"),
                                            HasSubstr("from the first transaction on")));
}

TEST(Replay, ATreeThatIsNotTheServersIsDoubted) {
  const Files files;
  files.directory.write("log.c",
                        log_bytes({set_body(12, "/a", "new", 3) + jute_int(2) + jute_long(1)}));
  EXPECT_THAT(doubt_text(files.at(12)).value_or(""), HasSubstr("its digest is not the one in"));
}

TEST(Replay, TheAclsOfAFuzzySnapshotAreLookedForInTheLog) {
  const LogDirectory directory;
  directory.write("snapshot.5", numbered_snapshot());
  directory.write("log.5", log_bytes({set_body(5, "/c", "", 1), ip_create_body(6, "/a", "::4")}));
  const auto replayed = replay(DataFiles({directory.path()}), {.until = 5});
  EXPECT_TRUE(replayed.fuzzy);
  EXPECT_EQ(acl_id(replayed.tree, "/a"), "::4");
}

TEST(PastTree, ChildrenVersionsAsTheServersCountThem) {
  const LogDirectory directory;
  PastTree tree;
  tree.load(directory.write("snapshot.0", snapshot_bytes({{"/a", ""}}, 0)), {});
  tree.apply(parsed(create_body(1, "/a/b", "")));
  tree.apply(parsed(create_body(2, "/a/b", "again")));
  EXPECT_EQ(tree.find("/a")->stat.cversion, 2);
  EXPECT_EQ(tree.find("/a/b")->data, "");
  tree.apply(parsed(delete_body(3, "/a/b")));
  EXPECT_EQ(tree.find("/a")->stat.cversion, 2);
  EXPECT_EQ(tree.find("/a")->stat.pzxid, 3);
  tree.apply(parsed(create_body(4, "/none/b", "")));
  tree.apply(parsed(create_body(5, "", "")));
  EXPECT_EQ(tree.size(), 3U);
}

TEST(PastTree, AnAclThatTheSnapshotOnlyNumbersComesFromTheLog) {
  const LogDirectory directory;
  PastTree tree;
  tree.load(directory.write("snapshot.5", numbered_snapshot()), {});
  EXPECT_EQ(acl_id(tree, "/a"), "unknown");
  EXPECT_FALSE(tree.knows_acl(*tree.find("/a")));
  EXPECT_EQ(acl_id(tree, "/b"), "anyone");  // a list without entries
  tree.apply(parsed(ip_create_body(6, "/a", "::4")));
  EXPECT_EQ(acl_id(tree, "/a"), "::4");
  EXPECT_TRUE(tree.knows_acl(*tree.find("/a")));  // the number was given out in the same order
}

TEST(PastTree, AServerThatGivesOutAnotherNumberDoesNotHideTheAcl) {
  const LogDirectory directory;
  PastTree tree;
  tree.load(directory.write("snapshot.5", numbered_snapshot()), {});
  tree.apply(parsed(ip_create_body(6, "/a", "::2")));
  EXPECT_EQ(acl_id(tree, "/a"), "::2");
  EXPECT_FALSE(tree.knows_acl(*tree.find("/a")));
  // An ACL that nobody has any more is forgotten, and gets the next number.
  tree.apply(parsed(delete_body(7, "/b")));
  tree.apply(parsed(ip_create_body(8, "/d", "::4")));
  EXPECT_EQ(acl_id(tree, "/a"), "::4");
}

TEST(PastTree, AParentThatIsCreatedAgainListsItsChildrenAgain) {
  const LogDirectory directory;
  PastTree tree;
  tree.load(directory.write("snapshot.5", snapshot_bytes({{"/a", ""}, {"/a/b", "late"}}, 9)), {});
  tree.apply(parsed(delete_body(6, "/a")));
  tree.apply(parsed(create_body(7, "/a", "")));
  EXPECT_THAT(tree.below("/a"), UnorderedElementsAre("/a"));
  tree.apply(parsed(txn_body(
      8, 15, jute_text("/a/b") + jute_text("new") + jute_open_acl() + '\0' + jute_int(1))));
  EXPECT_THAT(tree.below("/a"), UnorderedElementsAre("/a", "/a/b"));
  EXPECT_EQ(tree.find("/a/b")->data, "new");
  EXPECT_EQ(tree.find("/a")->stat.cversion, 1);
}

TEST(PastTree, ANodeBeforeItsParentSpoilsASnapshot) {
  const LogDirectory directory;
  PastTree tree;
  EXPECT_THROW(tree.load(directory.write("snapshot.5", snapshot_bytes({{"/a/b", ""}}, 5)), {}),
               DamagedSnapshot);
}

TEST(PastTree, JavaPutsOneQuestionMarkForEachCodePoint) {
  const LogDirectory directory;
  const auto has = [&](const std::string& stored, const std::string& path) {
    PastTree tree;
    tree.load(directory.write("snapshot.0", snapshot_bytes({{stored, ""}}, 0)), {});
    std::uint64_t sum = 0;
    for (const auto& one : {std::string(), std::string("/zookeeper"), path})
      sum += crc32_of(std::string(60, '\0'), crc32_of(one));
    return tree.has_digest(sum);
  };
  const std::string all =
      "/a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";  // é, €, and one beyond 16 bits
  EXPECT_TRUE(has(all, all));
  EXPECT_TRUE(has(all, "/a\xe9??z"));
  EXPECT_TRUE(has(all, "/a???z"));
  EXPECT_FALSE(has(all, "/a????z"));
  EXPECT_FALSE(has("/a", "/b"));
}

TEST(PastTree, ASessionsEndDeletesItsEphemerals) {
  const LogDirectory directory;
  PastTree tree;
  tree.load(directory.write("snapshot.0", snapshot_bytes({}, 0)), {});
  tree.apply(parsed(create_body(1, "/e1", "", true, 7)));
  tree.apply(parsed(create_body(2, "/e2", "", true, 8)));
  tree.apply(parsed(create_body(3, "/e3", "", true, 7)));
  tree.apply(parsed(delete_body(4, "/e3")));
  tree.apply(parsed(create_body(5, "/e3", "", false, 7)));
  tree.apply(parsed(txn_body(6, -11, "", 7, 0)));
  EXPECT_FALSE(tree.find("/e1"));
  EXPECT_TRUE(tree.find("/e2"));
  EXPECT_TRUE(tree.find("/e3"));
}

}  // namespace
}  // namespace zksh
