// FileCheck: every kind of damage is named with its place, zxids and remedy, and the verdict is a
// server's.
#include "txnlog/file_check.h"

#include "base/error.h"
#include "base/zlib.h"
#include "txnlog_files.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

namespace zksh {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Checked {
  FileCheckResult result{};
  std::vector<Finding> findings{};
  bool starts() const { return result.fails.empty(); }
  std::string texts() const {
    std::string all;
    for (const auto& finding : findings) {
      EXPECT_FALSE(finding.file.empty());
      EXPECT_FALSE(finding.remedy.empty());
      all += (finding.harmless ? "harmless: " : "") + finding.problem + '\n';
    }
    return all;
  }
};

Checked check(std::vector<std::string> places) {
  Checked checked;
  checked.result =
      check_files(DataFiles(std::move(places)),
                  {.report = [&](const Finding& finding) { checked.findings.push_back(finding); }});
  return checked;
}
Checked check(const LogDirectory& directory) { return check({directory.path()}); }

/// A sound directory: a snapshot at 2, and a log.
std::vector<std::string> sound_bodies() {
  return {create_body(1, "/a", "x"), set_body(2, "/a", "y", 1), set_body(3, "/a", "z", 2)};
}
void fill(const LogDirectory& directory) {
  directory.write("snapshot.2", snapshot_bytes({{"/a", "y"}}, 2));
  directory.write("log.1", log_bytes(sound_bodies(), 64));
}

TEST(FileCheck, ATransactionWrittenTwiceIsHarmless) {
  const LogDirectory directory;
  directory.write("snapshot.2", snapshot_bytes({{"/a", "y"}}, 2));
  auto bodies = sound_bodies();
  bodies.push_back(bodies.back());
  bodies.push_back(bodies.back());
  directory.write("log.1", log_bytes(bodies, 64));
  const auto checked = check(directory);
  EXPECT_EQ(checked.texts(), "harmless: a transaction that is written more than once, 0x3; " +
                                 std::to_string(bodies.back().size() + 13) +
                                 " bytes passed over\n");
  EXPECT_TRUE(checked.starts());
  EXPECT_EQ(checked.result.problems, 0U);
}

TEST(FileCheck, AGapBeforeTheSnapshotIsHarmless) {
  const LogDirectory directory;
  directory.write("log.1", log_bytes({create_body(1, "/a", "x")}, 64));
  directory.write("snapshot.5", snapshot_bytes({{"/a", "y"}}, 5));
  directory.write("log.6", log_bytes({set_body(6, "/a", "z", 3)}, 64));
  const auto bridged = check(directory);
  EXPECT_THAT(bridged.texts(),
              HasSubstr("harmless: transactions are missing, between 0x1 and 0x6"));
  EXPECT_THAT(bridged.findings.at(0).remedy, HasSubstr("snapshot.5 has them"));
  EXPECT_EQ(bridged.result.problems, 0U);

  const LogDirectory later;
  later.write("snapshot.0", snapshot_bytes({}, 0));
  later.write("log.1", log_bytes({create_body(1, "/a", "x")}, 64));
  later.write("log.6", log_bytes({set_body(6, "/a", "z", 3)}, 64));
  EXPECT_EQ(check(later).result.problems, 1U);
}

TEST(FileCheck, SoundFiles) {
  const LogDirectory directory;
  fill(directory);
  const auto checked = check(directory);
  EXPECT_THAT(checked.texts(), IsEmpty());
  EXPECT_TRUE(checked.starts());
  EXPECT_EQ(checked.result.zxid, 3);
  EXPECT_EQ(checked.result.nodes, 3U);
  EXPECT_EQ(checked.result.transactions, 3U);
}

TEST(FileCheck, AWrongChecksumStopsAServerOnlyWhereItReads) {
  const LogDirectory directory;
  fill(directory);
  auto bytes = log_bytes(sound_bodies());
  bytes[bytes.size() - 3] ^= 1;
  directory.write("log.1", bytes);
  auto checked = check(directory);
  EXPECT_THAT(checked.texts(), HasSubstr("a wrong checksum, after 0x2"));
  EXPECT_EQ(checked.findings[0].from, 3);
  EXPECT_FALSE(checked.starts());
}

TEST(FileCheck, ATornTailIsHarmless) {
  const LogDirectory directory;
  fill(directory);
  const auto bytes = log_bytes(sound_bodies());
  const auto cut = bytes.substr(0, bytes.size() - 5);
  directory.write("log.1", cut + std::string(64, '\0'));
  auto checked = check(directory);
  EXPECT_THAT(checked.texts(), HasSubstr("harmless: the last record is incomplete"));
  EXPECT_TRUE(checked.starts());
  EXPECT_EQ(checked.result.problems, 0U);
  // Without the zeros that servers write ahead, the file is not whole.
  directory.write("log.1", cut);
  checked = check(directory);
  EXPECT_THAT(checked.texts(), HasSubstr("a truncated copy, after 0x2"));
  EXPECT_TRUE(checked.starts());
  EXPECT_EQ(checked.result.problems, 1U);
}

TEST(FileCheck, MissingLogs) {
  const LogDirectory directory;
  fill(directory);
  directory.write("log.7", log_bytes({set_body(7, "/a", "z", 2)}));
  EXPECT_THAT(check(directory).texts(), HasSubstr("transactions are missing, between 0x3 and 0x7"));
  const LogDirectory late;
  late.write("snapshot.2", snapshot_bytes({}, 2));
  late.write("log.5", log_bytes({set_body(5, "/a", "z", 2)}));
  const auto checked = check(late);
  EXPECT_THAT(checked.texts(), HasSubstr("between"));
  EXPECT_EQ(checked.findings[0].from, 3);
  EXPECT_EQ(checked.findings[0].to, 4);
  EXPECT_TRUE(checked.starts());  // a server does not notice
  EXPECT_EQ(checked.result.problems, 1U);
}

TEST(FileCheck, Snapshots) {
  const LogDirectory directory;
  directory.write("log.5", log_bytes({set_body(5, "/a", "z", 2)}));
  EXPECT_THAT(check(directory).texts(), HasSubstr("no intact snapshot"));
  EXPECT_FALSE(check(directory).starts());
  directory.write("snapshot.4", snapshot_bytes({}, 4, true));
  EXPECT_THAT(check(directory).texts(), HasSubstr("a wrong checksum"));
  EXPECT_EQ(check(directory).findings[0].problem, "a wrong checksum");
  EXPECT_GT(check(directory).findings[0].offset, 0U);
  directory.write("snapshot.3", snapshot_bytes({}, 9));
  EXPECT_THAT(check(directory).texts(),
              HasSubstr("changed up to 0x9, and the logs do not reach that far"));
  EXPECT_TRUE(check(directory).starts());
}

TEST(FileCheck, MoreSnapshotsThanServersTryAreNoProblem) {
  const LogDirectory directory;
  constexpr int many = 101;
  for (int zxid = 1; zxid <= many; ++zxid)
    directory.write(fmt::format("snapshot.{:x}", zxid), snapshot_bytes({{"/a", "y"}}, zxid));
  const auto checked = check(directory);
  EXPECT_THAT(checked.texts(), IsEmpty());
  EXPECT_EQ(checked.result.snapshots, many);
}

TEST(FileCheck, ADigestThatDiffersIsNamedOnce) {
  const LogDirectory directory;
  fill(directory);
  const auto wrong = jute_int(2) + jute_long(12345);
  directory.write(
      "log.1", log_bytes({create_body(1, "/a", "x"), set_body(2, "/a", "y", 1),
                          set_body(3, "/a", "z", 2) + wrong, set_body(4, "/a", "z", 3) + wrong}));
  const auto checked = check(directory);
  ASSERT_EQ(checked.findings.size(), 1U);
  EXPECT_THAT(checked.texts(), HasSubstr("the tree differs"));
  EXPECT_EQ(checked.findings[0].from, 3);
}

TEST(FileCheck, Epochs) {
  const LogDirectory directory;
  constexpr std::int64_t epoch = std::int64_t{1} << 32U;
  directory.write("snapshot.200000000", snapshot_bytes({}, 2 * epoch));
  directory.write("log.200000001", log_bytes({set_body(2 * epoch + 1, "/a", "z", 2)}));
  directory.write("currentEpoch", "2\n");
  directory.write("acceptedEpoch", "2");
  EXPECT_THAT(check(directory).texts(), IsEmpty());
  directory.write("currentEpoch", "1");
  EXPECT_THAT(check(directory).texts(), HasSubstr("currentEpoch is 1"));
  EXPECT_FALSE(check(directory).starts());
  directory.write("currentEpoch", "3");
  EXPECT_THAT(check(directory).texts(), HasSubstr("acceptedEpoch is 2"));
  directory.write("currentEpoch", "two");
  EXPECT_THAT(check(directory).texts(), HasSubstr("currentEpoch holds \"two\", not a number"));
  // A server that was killed between the two sets it when it starts.
  directory.write("currentEpoch", "1");
  directory.write("currentEpoch.tmp", "2");
  EXPECT_THAT(check(directory).texts(), IsEmpty());
  directory.write("currentEpoch.tmp", "");
  EXPECT_THAT(check(directory).texts(), HasSubstr("currentEpoch.tmp holds \"\", not a number"));
  directory.write("currentEpoch", "+2\r\n");  // then nobody asks for the other
  EXPECT_THAT(check(directory).texts(), IsEmpty());
}

TEST(FileCheck, AMissingEpochIsThatOfTheLastTransaction) {
  constexpr std::int64_t epoch = std::int64_t{1} << 32U;
  for (const auto* const name : {"currentEpoch", "acceptedEpoch"}) {
    const LogDirectory directory;
    directory.write("snapshot.200000000", snapshot_bytes({}, 2 * epoch));
    directory.write("log.200000001", log_bytes({set_body(2 * epoch + 1, "/a", "z", 2)}));
    directory.write(name, "2");
    EXPECT_THAT(check(directory).texts(), IsEmpty());
    const bool current = name == std::string_view("currentEpoch");
    directory.write(name, current ? "3" : "1");
    EXPECT_THAT(
        check(directory).texts(),
        HasSubstr(current ? "acceptedEpoch is 2 for servers, since it is missing, less than "
                            "currentEpoch, 3"
                          : "acceptedEpoch is 1, less than the epoch of the last "
                            "transaction, 2"));
    EXPECT_FALSE(check(directory).starts());
  }
}

TEST(FileCheck, TheFilesOfMembersAreJudgedByThemselves) {
  constexpr std::int64_t epoch = std::int64_t{1} << 32U;
  const LogDirectory one;
  fill(one);
  one.write("currentEpoch", "0\n");
  const LogDirectory two;
  two.write("log.2", log_bytes({set_body(2, "/a", "y", 1), set_body(3, "/a", "z", 2)}, 64));
  two.write("log.100000001", log_bytes({set_body(epoch + 1, "/a", "w", 3)}, 64));
  two.write("currentEpoch", "1\n");
  const auto checked = check({one.path(), two.path()});
  EXPECT_THAT(checked.texts(), IsEmpty());
  EXPECT_TRUE(checked.starts());
}

TEST(FileCheck, ADataDirHasNoLogsIfThereIsADataLogDir) {
  const LogDirectory data;
  fill(data);
  const LogDirectory logs;
  logs.write("log.4", log_bytes({set_body(4, "/a", "w", 3)}, 64));
  auto checked = check({logs.path(), data.path()});
  EXPECT_THAT(checked.texts(), HasSubstr("(\"Snapshot directory has log files\")"));
  EXPECT_EQ(checked.findings[0].file, data.path());
  EXPECT_EQ(checked.findings[0].remedy, "move its logs to the dataLogDir");
  EXPECT_THAT(checked.result.starts, IsEmpty());
  EXPECT_TRUE(check(data).starts());
  // Each of several members has its own.
  logs.write("currentEpoch", "0");
  EXPECT_THAT(check({logs.path(), data.path()}).texts(), IsEmpty());
  logs.write("snapshot.0", snapshot_bytes({}, 0));
  EXPECT_TRUE(check({logs.path(), data.path()}).starts());
}

TEST(FileCheck, ADataLogDirHasNoSnapshots) {
  const LogDirectory data;
  data.write("snapshot.2", snapshot_bytes({{"/a", "y"}}, 2));
  const LogDirectory logs;
  logs.write("log.1", log_bytes(sound_bodies(), 64));
  EXPECT_THAT(check({data.path(), logs.path()}).texts(), IsEmpty());
  logs.write("snapshot.0", snapshot_bytes({}, 0));
  const auto checked = check({data.path(), logs.path()});
  EXPECT_THAT(checked.texts(), HasSubstr("(\"Log directory has snapshot files\")"));
  EXPECT_EQ(checked.findings[0].file, logs.path());
  EXPECT_THAT(checked.result.starts, IsEmpty());
  // A third has its own: they are members.
  const LogDirectory other;
  fill(other);
  EXPECT_TRUE(check({data.path(), logs.path(), other.path()}).starts());
}

TEST(FileCheck, LimitsThatServersDoNotTake) {
  const std::string limits = "/zookeeper_limits";
  const std::vector<std::pair<std::string, std::string>> nodes{
      {"/zookeeper/quota", ""}, {"/zookeeper/quota/a", ""}, {"/zookeeper/quotas", ""}};
  const auto with_log = [&](const std::vector<std::string>& bodies) {
    const LogDirectory directory;
    directory.write("snapshot.2", snapshot_bytes(nodes, 2));
    directory.write("log.3", log_bytes(bodies, 64));
    return check(directory);
  };
  const auto root = with_log({create_body(3, "/zookeeper/quota" + limits, "")});
  EXPECT_EQ(root.texts(),
            "/zookeeper/quota/zookeeper_limits is created: servers of 3.8 and 3.9 do not start "
            "(\"IllegalArgumentException: Invalid path\")\n");
  EXPECT_THAT(root.findings[0].remedy, HasSubstr("dump --at before:0x3"));
  EXPECT_THAT(root.result.starts, IsEmpty());
  EXPECT_THAT(with_log({create_body(3, "/zookeeper/quota/a" + limits, "")}).texts(), IsEmpty());
  EXPECT_THAT(with_log({delete_body(3, "/zookeeper/quota" + limits)}).texts(), IsEmpty());
  EXPECT_THAT(
      with_log({create_body(3, "/zookeeper" + limits, ""), delete_body(4, "/zookeeper" + limits)})
          .texts(),
      HasSubstr("is deleted: servers of 3.8 and 3.9 do not start "
                "(\"StringIndexOutOfBoundsException\")"));
  // As 3.6 and later write no such thing, a snapshot without their end is judged for 3.4, too.
  const LogDirectory old;
  const auto bytes = snapshot_bytes(nodes, 2);
  constexpr std::size_t digest_size = 33;
  old.write("snapshot.2", bytes.substr(0, bytes.size() - digest_size));
  old.write("log.3", log_bytes({create_body(3, "/zookeeper/quotas" + limits, "")}, 64));
  EXPECT_THAT(check(old).result.starts, testing::ElementsAre("3.8", "3.9"));
}

TEST(FileCheck, ASnapshotWithTheLimitsOfTheRoot) {
  const LogDirectory directory;
  directory.write(
      "snapshot.2",
      snapshot_bytes({{"/zookeeper/quota", ""}, {"/zookeeper/quota/zookeeper_limits", ""}}, 2));
  auto checked = check(directory);
  EXPECT_THAT(checked.texts(), HasSubstr("it has /zookeeper/quota/zookeeper_limits: servers of "));
  EXPECT_THAT(checked.result.starts, IsEmpty());
  // An older snapshot is of no use to servers, which take the newest.
  directory.write("snapshot.1", snapshot_bytes({}, 1));
  EXPECT_FALSE(check(directory).starts());
  directory.write("snapshot.3", snapshot_bytes({}, 3));
  EXPECT_TRUE(check(directory).starts());
}

TEST(FileCheck, ADigestOfPathsInTheCharsetOfTheServer) {
  const LogDirectory directory;
  directory.write("snapshot.2", snapshot_bytes({{"/\xc3\xa4", ""}}, 2));
  const auto with_digest_of = [&](const std::vector<std::string>& paths) {
    std::uint64_t sum = 0;
    for (const auto& path : paths) sum += crc32_of(std::string(60, '\0'), crc32_of(path));
    const auto nothing = txn_body(3, -10, jute_int(30000));
    directory.write("log.3",
                    log_bytes({nothing + jute_int(2) + jute_long(static_cast<std::int64_t>(sum))}));
    return check(directory);
  };
  for (const auto* const path : {"/\xc3\xa4", "/\xe4", "/?"}) {
    const auto checked = with_digest_of({"", "/zookeeper", path});
    EXPECT_THAT(checked.texts(), IsEmpty());
    EXPECT_EQ(checked.result.digests, 1U);
  }
  EXPECT_THAT(with_digest_of({"", "/zookeeper", "/??"}).texts(), HasSubstr("the tree differs"));
}

TEST(FileCheck, WhatIsNoFileIsNamed) {
  const LogDirectory directory;
  fill(directory);
  const auto later = directory.path() + "/log.4";
  std::filesystem::create_symlink("/nonexistent", later);
  auto checked = check(directory);
  EXPECT_EQ(checked.texts(), "it is a link to a file that does not exist\n");
  EXPECT_EQ(checked.findings[0].file, later);
  EXPECT_FALSE(checked.starts());
  std::filesystem::remove(later);
  std::filesystem::create_directory(later);
  EXPECT_EQ(check(directory).texts(), "it is a directory\n");
  EXPECT_FALSE(check(directory).starts());
  // What servers do not read does not stop them.
  std::filesystem::remove(later);
  std::filesystem::create_directory(directory.path() + "/log.0");
  std::filesystem::create_directory(directory.path() + "/snapshot.9");
  checked = check(directory);
  EXPECT_TRUE(checked.starts());
  EXPECT_EQ(checked.result.problems, 2U);
}

TEST(FileCheck, APackedLogIsToBeUnpacked) {
  constexpr std::string_view gzip("\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
  const LogDirectory directory;
  fill(directory);
  const auto packed = directory.write("log.4.gz", gzip);
  const auto checked = check(directory);
  EXPECT_THAT(checked.texts(), HasSubstr("it is packed"));
  EXPECT_THAT(checked.findings[0].remedy, HasSubstr("gunzip it"));
  EXPECT_FALSE(checked.starts());
  try {
    const DataFiles files({packed});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unpack it with gunzip"));
  }
  std::filesystem::rename(packed, directory.path() + "/log.0.gz");
  EXPECT_TRUE(check(directory).starts());  // servers do not read it
}

TEST(FileCheck, EmptyAndForeignFiles) {
  const LogDirectory directory;
  fill(directory);
  // 3.4 to 3.8 do not start on an empty log, none on one that is cut off in its header.
  for (const auto& [bytes, text] :
       {std::pair("", "the file is empty (\"EOFException\")\n"),
        std::pair("ZKLG", "the file ends within its header (\"EOFException\")\n")}) {
    directory.write("log.4", bytes);
    const auto begun = check(directory);
    EXPECT_EQ(begun.texts(), text);
    EXPECT_FALSE(begun.starts());
    EXPECT_EQ(begun.result.problems, 1U);
    EXPECT_THAT(begun.findings[0].remedy, HasSubstr("remove the file"));
  }
  directory.write("log.5", "this is something else");
  const auto checked = check(directory);
  EXPECT_THAT(checked.texts(), HasSubstr("this is not a transaction log"));
  EXPECT_FALSE(checked.starts());
  directory.write("log.x", "");
  EXPECT_THAT(check(directory).texts(), HasSubstr("the name is that of no log"));
}

}  // namespace
}  // namespace zksh
