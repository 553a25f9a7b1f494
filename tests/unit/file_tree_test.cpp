// FileTree: names of nodes as names of files, and back.
#include "tree/file_tree.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(FileTree, NamesThatAFileSystemCouldNotTellApartAreEscaped) {
  EXPECT_EQ(file_name_of("plain-1.txt"), "plain-1.txt");
  EXPECT_EQ(file_name_of(".value"), "%2Evalue");
  EXPECT_EQ(file_name_of("..x"), "%2E.x");
  EXPECT_EQ(file_name_of("100%"), "100%25");
  EXPECT_EQ(file_name_of("größe 7"), "größe 7");
}

TEST(FileTree, EachNameComesBack) {
  for (const std::string name : {"a", ".a", "%", "%%41", "%2F", "%2e", "a.b.", "100% .x"}) {
    EXPECT_EQ(node_name_of(file_name_of(name)), name);
    EXPECT_NE(file_name_of(name).front(), '.');
  }
}

TEST(FileTree, WhatIsNoEscapeStaysAsItIs) {
  EXPECT_EQ(node_name_of("100%"), "100%");
  EXPECT_EQ(node_name_of("%4"), "%4");
  EXPECT_EQ(node_name_of("%zz"), "%zz");
  EXPECT_EQ(node_name_of("%c3%9F"), "ß");
  EXPECT_EQ(node_name_of("a%2Fb%00"), "a%2Fb%00");
}

}  // namespace
}  // namespace zksh
