// mask_secrets: no form of a line leaks a password or hash.
#include "base/secrets.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

struct Masked {
  const char* line;
  const char* masked;
};

class MasksSecret : public testing::TestWithParam<Masked> {};

TEST_P(MasksSecret, InLine) {
  EXPECT_EQ(mask_secrets(GetParam().line).value_or("(nothing masked)"), GetParam().masked);
}

INSTANTIATE_TEST_SUITE_P(
    Addauth, MasksSecret,
    testing::Values(Masked{"addauth digest bob:pw", "addauth digest bob:***"},
                    Masked{"  addauth\t digest   bob:pw  ", "  addauth\t digest   bob:***  "},
                    Masked{"\"addauth\" 'digest' \"bob:pw\"", "\"addauth\" 'digest' \"bob:***\""},
                    Masked{"addauth digest 'bob:p w'", "addauth digest 'bob:***'"},
                    Masked{"addauth digest \"bob:pw", "addauth digest \"bob:***"},
                    Masked{"addauth digest $'b\\'ob:pw'", "addauth digest $'***'"},
                    Masked{"addauth digest bob:p:w", "addauth digest bob:***"},
                    Masked{"addauth digest secret", "addauth digest ***"},
                    Masked{"addauth digest bob:pw more", "addauth digest bob:***"},
                    Masked{"addauth bob:pw", "addauth bob:***"},
                    Masked{"addauth digest:bob:pw", "addauth digest:***"},
                    Masked{"addauth\"digest\"\"bob:pw\"", "addauth\"digest\"\"bob:***\""},
                    Masked{"ADDAUTH Digest bob:pw", "ADDAUTH Digest bob:***"},
                    Masked{"# addauth digest bob:pw", "# addauth digest bob:***"},
                    Masked{"repeat 3 addauth digest bob:pw", "repeat 3 addauth digest bob:***"},
                    Masked{"ls /;addauth digest bob:pw", "ls /;addauth digest bob:***"},
                    Masked{"addauth sasl token", "addauth sasl ***"},
                    Masked{"adauth digest bob:pw", "adauth digest bob:***"},
                    Masked{"digest bob pw", "digest bob ***"},
                    Masked{"digest bob 'p w' | cat", "digest bob '***' | cat"},
                    Masked{"digest bob:pw", "digest bob:***"},
                    Masked{"ls / ; digest bob pw", "ls / ; digest bob ***"}));

INSTANTIATE_TEST_SUITE_P(
    Acl, MasksSecret,
    testing::Values(
        Masked{"setAcl /p digest:bob:H+/=:cdrwa", "setAcl /p digest:bob:***:cdrwa"},
        Masked{"create /p '' digest:bob:H=:r", "create /p '' digest:bob:***:r"},
        Masked{"setAcl /p world:anyone:r,digest:bob:H=:cdrwa,ip:1.2.3.4:r",
               "setAcl /p world:anyone:r,digest:bob:***:cdrwa,ip:1.2.3.4:r"},
        Masked{"setAcl /p digest:a:H:r,digest:b:I:w", "setAcl /p digest:a:***:r,digest:b:***:w"},
        Masked{"setAcl /p \"digest:bob:p w:cdrwa\"", "setAcl /p \"digest:bob:***:cdrwa\""},
        Masked{"setAcl /p digest:bob:p,w:cdrwa", "setAcl /p digest:bob:***:cdrwa"},
        Masked{"setAcl /p digest:bob:p:w:cdrwa", "setAcl /p digest:bob:***:cdrwa"},
        Masked{"setAcl /p digest:bob:pw", "setAcl /p digest:bob:***"},
        Masked{"setAcl /p \"digest:bob:pw:r", "setAcl /p \"digest:bob:***:r"},
        Masked{"setAcl /p auth:bob:12345:cdrwa", "setAcl /p auth:bob:***:cdrwa"},
        Masked{"setAcl /p Digest:bob:pw:r", "setAcl /p Digest:bob:***:r"},
        Masked{"lock --acl=digest:bob:H:r /l", "lock --acl=digest:bob:***:r /l"}));

class LeavesAlone : public testing::TestWithParam<const char*> {};

TEST_P(LeavesAlone, Line) { EXPECT_EQ(mask_secrets(GetParam()), std::nullopt); }

INSTANTIATE_TEST_SUITE_P(
    Lines, LeavesAlone,
    testing::Values("", "   ", "ls /", "digest bob", "digest bob @/etc/pw", "digest bob -",
                    "digest bob | cat", "digest bob > /tmp/x", "grep digest /a /b",
                    "all know world, ip, digest and auth", "get /addauth digest", "help addauth",
                    "addauth", "addauth digest", "addauth digest ", "addauth digest bob:",
                    "addauth \"digest\"", "setAcl /p world:anyone:cdrwa", "setAcl /p auth::cdrwa",
                    "setAcl /p auth:bob:cdrwa", "setAcl /p auth::cdrwa,world:anyone:r",
                    "setAcl /p ip:10.0.0.0/8:r", "set /digest a:b", "set /p digest http://x",
                    "get /app/digest:x:y", "create /p \"unclosed"));

TEST(MaskSecrets, TakesAnyBytes) {
  EXPECT_EQ(mask_secrets(std::string("set /p \0\xff\x80", 10)), std::nullopt);
  EXPECT_EQ(mask_secrets(std::string("addauth digest bob:\0p\xff", 22)), "addauth digest bob:***");
  EXPECT_EQ(mask_secrets("$'"), std::nullopt);
  EXPECT_EQ(mask_secrets("$'\\"), std::nullopt);
}

TEST(MaskSecrets, IsQuickOnLongLines) {
  std::string one_word;
  one_word.resize(10'000'000, 'a');
  EXPECT_EQ(mask_secrets(one_word), std::nullopt);
  std::string many;
  while (many.size() < 1'000'000) many += "digest:";
  EXPECT_TRUE(mask_secrets(many).has_value());
}

}  // namespace
}  // namespace zksh
