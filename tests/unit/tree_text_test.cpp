// TreeText: parsing dumps, and refusing malformed ones.
#include "tree/tree_text.h"

#include "failures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace zksh {
namespace {

const Acl open_to_all{{.perms = perm::all, .scheme = "world", .id = "anyone"}};

TreeReader::NextLine lines_of(const std::string& text) {
  return [text, at = std::size_t{0}](std::string& line) mutable {
    if (at >= text.size()) return false;
    const auto end = std::min(text.find('\n', at), text.size());
    line = text.substr(at, end - at);
    at = end + 1;
    return true;
  };
}

std::vector<TreeRecord> read(const std::string& text) {
  TreeReader reader(lines_of(text), "f");
  std::vector<TreeRecord> records;
  while (auto record = reader.next()) records.push_back(std::move(*record));
  return records;
}

std::string tree_refusal(const std::string& text) {
  return refusal_of<ValueError>([&] { read(text); });
}

std::string written(TreeFormat format, const std::vector<TreeRecord>& records) {
  auto text = tree_header(format, "/app");
  for (const auto& record : records) text += tree_line(format, record);
  return text + tree_end(format, 0);
}

TreeRecord node(const std::string& path, Data data = std::nullopt, Acl acl = open_to_all) {
  return {.path = path, .acl = std::move(acl), .data = std::move(data)};
}

constexpr auto head = "zksh-tree\t1\t/app\n";
constexpr auto top_line = "/\tpersistent\tworld:anyone:cdrwa\tnull\n";

// U+202E, in parts: in one piece the literal itself would be misleading.
const std::string right_to_left = std::string("\xe2\x80") + "\xae";

TEST(TreeText, ALineSaysAllOfANode) {
  const Acl acl{{.perms = perm::read, .scheme = "digest", .id = "ann:aGFzaA=="},
                {.perms = perm::all, .scheme = "ip", .id = "::1"},
                {.perms = 64, .scheme = "x:y", .id = "CN=a,O=b"}};
  TreeRecord record{.path = "/a b",
                    .life = {.kind = NodeKind::Ttl, .ttl = 1500},
                    .acl = acl,
                    .data = "say \"hi\"\\\n\t\x1b[31m \u00fc" + right_to_left,
                    .limits = {5, -1, -1, 100}};
  EXPECT_EQ(tree_line(TreeFormat::Text, record),
            "/a b\tttl=1500\tdigest:ann:aGFzaA==:r,ip:::1:cdrwa,x\\x3ay:CN=a\\x2cO=b:64\t"
            "\"say \\\"hi\\\"\\\\\\n\\t\\x1b[31m "
            "\u00fc\\xe2\\x80\\xae\"\tquota:count=5,byteHardLimit=100\n");
}

TEST(TreeText, NullEmptyAndTheirNamesDiffer) {
  EXPECT_EQ(data_field(std::nullopt), "null");
  EXPECT_EQ(data_field(""), "\"\"");
  EXPECT_EQ(data_field("null"), "\"null\"");
  EXPECT_EQ(data_field(std::string("\0", 1)), "\"\\x00\"");
  EXPECT_EQ(data_field("\xff\xfe"), "base64://4=");
  EXPECT_EQ(data_field("base64:AA=="), "\"base64:AA==\"");
}

TEST(TreeText, WhatWasWrittenIsRead) {
  std::mt19937 random(7);
  std::vector<TreeRecord> records{node("", "")};
  for (int i = 10; i < 99; ++i) {
    std::string bytes;
    const auto size = random() % 20;
    for (std::size_t k = 0; k < size; ++k) bytes += static_cast<char>(random());
    records.push_back(node("/n" + std::to_string(i), bytes));
    records.back().acl.push_back(
        {.perms = static_cast<int>(random() % 100), .scheme = "s" + bytes, .id = bytes});
  }
  records.push_back(node("/o\\" + right_to_left, "", {{.perms = 0, .scheme = "x509", .id = ""}}));
  records.push_back(node("/o\\" + right_to_left + "/p"));
  records.back().life = {.kind = NodeKind::Container};
  records.back().limits = {1, 0, std::numeric_limits<std::int64_t>::max(), -1};
  for (const auto format : {TreeFormat::Text, TreeFormat::JsonLines}) {
    const auto text = written(format, records);
    TreeReader reader(lines_of(text), "f");
    EXPECT_EQ(reader.top(), "/app");
    std::vector<TreeRecord> back;
    while (auto record = reader.next()) back.push_back(std::move(*record));
    ASSERT_EQ(back.size(), records.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
      EXPECT_EQ(back[i].path, records[i].path);
      EXPECT_EQ(life_text(back[i].life), life_text(records[i].life));
      EXPECT_EQ(back[i].acl, records[i].acl);
      EXPECT_EQ(back[i].data, records[i].data);
      EXPECT_EQ(back[i].limits, records[i].limits);
    }
    EXPECT_EQ(written(format, back), text);
    for (const char letter : text)
      EXPECT_TRUE(letter >= ' ' || letter == '\n' || letter == '\t' || letter < 0);
  }
}

/// Reads a text that was cut off; each record that it gives must be whole.
void expect_complaint(const std::string& text, const std::vector<TreeRecord>& records) {
  std::size_t given = 0;
  try {
    TreeReader reader(lines_of(text), "f");
    while (auto record = reader.next())
      EXPECT_EQ(record->data, records[given++].data) << "a record that was cut off is given";
    ADD_FAILURE() << "no error for " << text.size() << " bytes";
  } catch (const ValueError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("f:")) << error.what();
  }
}

TEST(TreeText, EveryCutIsNoticed) {
  const std::vector<TreeRecord> records{node("", "abc"), node("/a", "\xff\xff\xff"), node("/a/b"),
                                        node("/c", "x")};
  for (const auto format : {TreeFormat::Text, TreeFormat::JsonLines}) {
    const auto text = written(format, records);
    for (std::size_t size = 0; size + 1 < text.size(); ++size)
      expect_complaint(text.substr(0, size), records);
  }
}

TEST(TreeText, CommentsAndEmptyLinesCountForNothing) {
  EXPECT_EQ(read("# mine\n\n" + std::string(head) + "# x\n" + top_line + "\nend\n# y\n").size(),
            1U);
  EXPECT_EQ(tree_end(TreeFormat::Text, 2), "# 2 ephemeral nodes were left out\nend\n");
}

/// The complaint about a text whose line behind the top's is `line`.
std::string complaint_about(const std::string& line) {
  return tree_refusal(std::string(head) + top_line + line + "\nend\n");
}

TEST(TreeText, FieldsThatCannotBeReadAreRefused) {
  for (const auto* ttl : {"ttl=0", "ttl=-1", "ttl=1099511627776", "ttl=1x", "ttl="})
    EXPECT_NE(complaint_about(std::string("/a\t") + ttl + "\tworld:anyone:r\tnull"), "") << ttl;
  for (const auto* acl : {"", "world", "world:r", ":x:r", "world:anyone:rz", "a\\q:b:r", "a:b:-1"})
    EXPECT_NE(complaint_about(std::string("/a\tpersistent\t") + acl + "\tnull"), "") << acl;
  for (const auto* data :
       {"x", "\"", "\"a\"b\"", "\"a\\\"", "base64:A", "\"\\x1\"", "\"\\x 1\"", "\"\\u0031\"", ""})
    EXPECT_NE(complaint_about(std::string("/a\tpersistent\tworld:anyone:r\t") + data), "") << data;
  for (const auto* rest : {"x", "quota:x=1", "quota:count=-5", "quota:count", "quota:count=1\tx"})
    EXPECT_NE(complaint_about(std::string("/a\tpersistent\tworld:anyone:r\tnull\t") + rest), "")
        << rest;
  for (const auto* path : {"a", "//", "/a/", "/a//b", "/.", "/a\\x01", "/a\\x00"})
    EXPECT_NE(complaint_about(std::string(path) + "\tpersistent\tworld:anyone:r\tnull"), "")
        << path;
}

TEST(TreeText, MistakesAreNamedWithTheirLine) {
  const auto with = [](const std::string& lines) { return tree_refusal(head + lines + "end\n"); };
  EXPECT_EQ(tree_refusal(""), "f:1: the file is empty");
  EXPECT_EQ(tree_refusal("hello\n"), "f:1: this is not the output of `dump`");
  EXPECT_EQ(tree_refusal("zksh-tree\t2\t/a\n"),
            "f:1: unknown format version; this zksh reads version 1");
  EXPECT_EQ(tree_refusal("zksh-tree\t1\ta\n"), "f:1: Path must start with / character");
  EXPECT_EQ(with(""), "f:2: there are no nodes");
  EXPECT_EQ(with("/a\tpersistent\tworld:anyone:r\tnull\n"),
            "f:2: the first node is not the top, /");
  const auto& second = complaint_about;
  EXPECT_EQ(second("/a"), "f:3: expected path, kind, ACL and data, separated by tabs");
  EXPECT_EQ(second("/a/b\tpersistent\tworld:anyone:r\tnull"), "f:3: /a/b has no parent");
  EXPECT_EQ(second("/a\tephemeral\tworld:anyone:r\tnull"),
            "f:3: \"ephemeral\" is not persistent, container or ttl=MILLISECONDS");
  EXPECT_EQ(second("/b\tpersistent\tworld:anyone:r\tnull\n/a\tpersistent\tworld:anyone:r\tnull"),
            "f:4: /a after /b: nodes must be sorted");
  EXPECT_NE(second("/b\tpersistent\tworld:anyone:r\tnull\n/b\tpersistent\tworld:anyone:r\tnull"),
            "");
  EXPECT_EQ(tree_refusal(std::string(head) + top_line + "end\n" + top_line),
            "f:4: there is text after the last line");
}

TEST(TreeText, HostileJsonIsRefused) {
  const std::string begin = "{\"format\":\"zksh-tree\",\"version\":1,\"path\":\"/app\"}\n";
  for (const std::string line :
       {"{", "[]", "null", "{}", "{\"path\":\"/\"}",
        "{\"path\":\"/\",\"kind\":\"persistent\",\"acl\":[],\"data\":null}",
        "{\"path\":\"/\",\"kind\":\"persistent\",\"acl\":[1],\"data\":null}",
        "{\"path\":\"/"
        "\",\"kind\":\"persistent\",\"acl\":[{\"scheme\":\"world\",\"id\":\"anyone\",\"perms\":7}],"
        "\"data\":null}",
        "{\"path\":\"/"
        "\",\"kind\":\"persistent\",\"acl\":[{\"scheme\":\"\",\"id\":\"\",\"perms\":\"r\"}],"
        "\"data\":null}",
        "{\"path\":\"/"
        "\",\"kind\":\"ttl\",\"acl\":[{\"scheme\":\"world\",\"id\":\"anyone\",\"perms\":\"r\"}],"
        "\"data\":null}",
        "{\"path\":\"/"
        "\",\"kind\":\"ttl=5\",\"acl\":[{\"scheme\":\"world\",\"id\":\"anyone\",\"perms\":\"r\"}],"
        "\"data\":null}",
        "{\"path\":\"/"
        "\",\"kind\":\"persistent\",\"acl\":[{\"scheme\":\"world\",\"id\":\"anyone\",\"perms\":"
        "\"r\"}],\"data\":5}",
        "{\"path\":\"/"
        "\",\"kind\":\"persistent\",\"acl\":[{\"scheme\":\"world\",\"id\":\"anyone\",\"perms\":"
        "\"r\"}],\"data\":{\"base64\":\"?\"}}",
        "{\"format\":\"zksh-tree\",\"version\":1,\"path\":\"/app\"}"})
    EXPECT_TRUE(tree_refusal(begin + line + "\n{\"end\":true}\n").starts_with("f:2: ")) << line;
  EXPECT_TRUE(tree_refusal(begin + std::string(100000, '[') + "\n").starts_with("f:2: "));
  EXPECT_TRUE(tree_refusal("{\"format\":\"zksh-tree\",\"version\":2,\"path\":\"/app\"}\n")
                  .starts_with("f:1: "));
}

TEST(TreeRecord, KindsAreReadFromTheOwner) {
  const auto life = [](std::uint64_t owner) {
    Stat stat;
    stat.ephemeral_owner = static_cast<std::int64_t>(owner);
    return life_text(life_of(stat));
  };
  EXPECT_EQ(life(0), "persistent");
  EXPECT_FALSE(life_of(Stat{}).certain);
  EXPECT_TRUE(agree(life_of(Stat{}), {.kind = NodeKind::Container}));
  EXPECT_FALSE(agree({}, {.kind = NodeKind::Container}));
  EXPECT_FALSE(agree({.kind = NodeKind::Ttl, .ttl = 1}, {.kind = NodeKind::Ttl, .ttl = 2}));
  EXPECT_EQ(life(0x8000000000000000), "container");
  EXPECT_EQ(life(0xff000000000005dc), "ttl=1500");
  EXPECT_EQ(life(0xff0000ffffffffff), "ttl=1099511627775");
  EXPECT_EQ(life(0xff000100000005dc), "ephemeral");
  EXPECT_EQ(life(0x100000abc), "ephemeral");
  EXPECT_EQ(life(0x8000000000000001), "ephemeral");
}

TEST(TreeRecord, ASubtreeStandsBeforeTheNextSibling) {
  std::vector<std::string> paths{"/b", "/a-b", "/a/c", "", "/a", "/a/c/d", "/a\xc3\xbc", "/a/b"};
  std::ranges::sort(paths, stands_before);
  EXPECT_EQ(paths, (std::vector<std::string>{"", "/a", "/a/b", "/a/c", "/a/c/d", "/a-b",
                                             "/a\xc3\xbc", "/b"}));
  EXPECT_FALSE(stands_before("/a", "/a"));
  EXPECT_TRUE(is_within("/a/b", "/a") && is_within("/a", "/a") && is_within("/x", ""));
  EXPECT_TRUE(is_within("/x", "/") && is_within("/", "/"));
  EXPECT_FALSE(is_within("/ab", "/a"));
  EXPECT_EQ(path_below("/", "/a"), "/a");
  EXPECT_EQ(path_from("/", "/a"), "/a");
  EXPECT_EQ(path_below("/t", ""), "/t");
  EXPECT_EQ(path_from("/t", "/t/a"), "/a");
}

}  // namespace
}  // namespace zksh
