// Sequence numbers: the counter in a parent's Stat, and the number at the end of a name.
#include "client/client.h"
#include "client/node_path.h"

#include <gtest/gtest.h>

#include <optional>

namespace zksh {
namespace {

TEST(SequenceNumber, TheCounterCountsCreations) {
  // Five created, two of them deleted.
  EXPECT_EQ(sequence_counter({.cversion = 7, .num_children = 3}), 5);
  EXPECT_EQ(sequence_counter({}), 0);
}

TEST(SequenceNumber, TheCounterIsPositiveToItsEnd) {
  // What servers report is twice as large, and does not fit into 32 bits from 2^30 on.
  EXPECT_EQ(sequence_counter({.cversion = INT32_MIN, .num_children = 0}), 1 << 30);
  EXPECT_EQ(sequence_counter({.cversion = -3, .num_children = 1}), INT32_MAX);
}

TEST(SequenceNumber, NamesEndInTenDigits) {
  EXPECT_EQ(sequence_number("a-0000000002"), 2);
  EXPECT_EQ(sequence_number("0000000000"), 0);
  EXPECT_EQ(sequence_number("job12147483647"), INT32_MAX);
  EXPECT_EQ(sequence_number("a-2147483648"), std::nullopt);
  EXPECT_EQ(sequence_number("a-000000002"), std::nullopt);
  EXPECT_EQ(sequence_number("a-000000002x"), std::nullopt);
  EXPECT_EQ(sequence_number("12"), std::nullopt);
}

}  // namespace
}  // namespace zksh
