// NameList: adding and sorting names.
#include "base/name_list.h"

#include "base/error.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(NameList, SortsByTheValuesOfBytes) {
  NameList names;
  for (const auto* name : {"b", "", "\xc3\xa4", "a-", "a", "B"}) names.add(name);
  names.sort({});
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) all += std::string(names[i]) + "|";
  EXPECT_EQ(all, "|B|a|a-|b|\xc3\xa4|");
}

TEST(NameList, AStopEndsASort) {
  NameList names;
  for (int i = 0; i < 20'000; ++i) names.add(std::to_string(i * 7919 % 20'000));
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(names.sort(source.get_token()), Cancelled);
}

}  // namespace
}  // namespace zksh
