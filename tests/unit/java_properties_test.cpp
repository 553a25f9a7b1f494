// java_properties: Java's properties files.
#include "base/java.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

TEST(Properties, SeparatorsAndBlanks) {
  const auto properties = java_properties("a=1\n b : 2\nc 3\nd\n  e  =  4  \n\n");
  EXPECT_EQ(properties, (Properties{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", ""}, {"e", "4  "}}));
}

TEST(Properties, CommentsAndContinuedLines) {
  const auto properties = java_properties("# a=1\n! b=2\nc=one, \\\n   two\\\\\nd=3\\\n");
  EXPECT_EQ(properties, (Properties{{"c", "one, two\\"}, {"d", "3"}}));
}

TEST(Properties, Escapes) {
  EXPECT_EQ(java_properties("a\\=b=\\t\\u00e9\\q"), (Properties{{"a=b", "\t\u00e9q"}}));
  EXPECT_EQ(java_properties("a=1\r\nb=2\r\n"), (Properties{{"a", "1"}, {"b", "2"}}));
}

}  // namespace
}  // namespace zksh
