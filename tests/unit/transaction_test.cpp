// Transaction: the records of every type, and those that are malformed.
#include "txnlog/transaction.h"

#include "client/zk_error.h"
#include "txnlog_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

std::string digest(std::int64_t value) { return jute_int(2) + jute_long(value); }

TEST(Transaction, CreatesOfEveryKind) {
  auto txn = parsed(create_body(5, "/a", "data", true) + digest(77));
  ASSERT_EQ(txn.operations.size(), 1U);
  EXPECT_EQ(txn.zxid, 5);
  EXPECT_EQ(txn.operations[0].path, "/a");
  EXPECT_EQ(txn.operations[0].data, "data");
  EXPECT_TRUE(txn.operations[0].ephemeral);
  EXPECT_EQ(txn.digest, 77U);
  EXPECT_EQ(decoded_acl(txn.operations[0].acl),
            (Acl{{.perms = 31, .scheme = "world", .id = "anyone"}}));
  const auto node = jute_text("/b") + jute_int(-1) + jute_open_acl();
  txn = parsed(txn_body(6, 19, node + jute_int(4)));
  EXPECT_EQ(txn.operations[0].data, std::nullopt);
  EXPECT_EQ(txn.operations[0].parent_cversion, 4);
  txn = parsed(txn_body(7, 21, node + jute_int(4) + jute_long(1500)) + digest(1));
  EXPECT_EQ(txn.operations[0].ttl, 1500);
  // 3.3 wrote no version of the parent, and no digest.
  txn = parsed(txn_body(8, 1, node + '\0'));
  EXPECT_EQ(txn.operations[0].parent_cversion, -1);
}

std::string multi(const std::vector<std::pair<int, std::string>>& parts) {
  auto text = jute_int(static_cast<std::int64_t>(parts.size()));
  for (const auto& [type, body] : parts) text += jute_int(type) + jute_text(body);
  return text;
}

TEST(Transaction, AFailedMultiChangesNothing) {
  const auto check = jute_text("/a") + jute_int(3);
  const auto remove = jute_text("/a");
  auto txn = parsed(txn_body(5, 14, multi({{13, check}, {2, remove}}) + digest(9)));
  EXPECT_EQ(txn.operations.size(), 2U);
  EXPECT_FALSE(txn.failed());
  EXPECT_EQ(txn.digest, 9U);
  const auto failed =
      txn_body(5, 14, multi({{2, remove}, {-1, jute_int(code::no_node)}, {-1, jute_int(-2)}}));
  txn = parsed(failed);
  EXPECT_TRUE(txn.operations.empty());
  EXPECT_EQ(txn.error, code::no_node);
  // The same on a member that had it from the leader's memory.
  const auto rewritten =
      txn_body(5, 14, multi({{-1, remove}, {-1, jute_int(code::no_node)}, {-1, jute_int(-2)}}));
  EXPECT_EQ(parsed(rewritten).error, code::no_node);
  EXPECT_TRUE(parsed(rewritten).operations.empty());
  EXPECT_TRUE(same_transaction(failed, rewritten));
  EXPECT_FALSE(same_transaction(failed, txn_body(5, 14, multi({{2, remove}}))));
}

TEST(Transaction, TheEndOfASession) {
  const auto paths = jute_int(2) + jute_text("/e1") + jute_text("/e2");
  auto txn = parsed(txn_body(5, -11, paths + digest(3), 0x77, 0));
  EXPECT_THAT(*txn.ephemerals, testing::ElementsAre("/e1", "/e2"));
  EXPECT_TRUE(txn.expired());
  EXPECT_EQ(txn.digest, 3U);
  txn = parsed(txn_body(5, -11, jute_int(0) + digest(3)));
  EXPECT_THAT(*txn.ephemerals, testing::IsEmpty());
  EXPECT_FALSE(txn.expired());
  txn = parsed(txn_body(5, -11, ""));
  EXPECT_FALSE(txn.ephemerals);
  txn = parsed(txn_body(5, -11, digest(3)));
  EXPECT_FALSE(txn.ephemerals);
  EXPECT_EQ(txn.digest, 3U);
}

TEST(Transaction, UnknownAndMalformed) {
  EXPECT_FALSE(parsed(txn_body(5, 99, "anything")).known);
  LoggedTransaction txn;
  EXPECT_FALSE(parse_transaction(txn_body(5, 5, jute_text("/a") + jute_int(0x7fffffff)), txn));
  EXPECT_FALSE(parse_transaction(txn_body(5, 14, jute_int(0x7fffffff)), txn));
  EXPECT_FALSE(parse_transaction(txn_body(5, 14, multi({{5, "x"}})), txn));
  EXPECT_FALSE(parse_transaction("", txn));
  EXPECT_THAT(decoded_acl(jute_int(0x7fffffff)), testing::IsEmpty());
}

}  // namespace
}  // namespace zksh
