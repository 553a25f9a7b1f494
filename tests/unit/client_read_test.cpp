// Client: reads that are sent again after a lost connection.
#include "failures.h"
#include "fake_client.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

class ClientReadTest : public testing::Test {
 protected:
  void lose_answers(std::size_t count) {
    for (std::size_t number = 1; number <= count; ++number)
      fake.fail_request(number, FakeClient::When::AfterItWasApplied);
  }

  FakeTree server;
  FakeClient fake{server};
};

TEST_F(ClientReadTest, AReadIsSentAgain) {
  fake.create({.path = "/a", .data = "1"}, {});
  lose_answers(3);
  EXPECT_EQ(fake.get("/a", Watch::none(), {}).data, "1");
}

TEST_F(ClientReadTest, AReadWhoseAnswerEndsEveryConnectionIsGivenUp) {
  fake.create({.path = "/a", .data = "1"}, {});
  const auto before = fake.requests();
  lose_answers(4);
  EXPECT_EQ(code_of([&] { fake.get("/a", Watch::none(), {}); }), code::connection_loss);
  EXPECT_EQ(fake.requests() - before, 4U);
}

TEST_F(ClientReadTest, AnAclIsSetWhateverBecomesOfTheReadOfItsStat) {
  fake.create({.path = "/a", .data = "1"}, {});
  fake.fail_request(2, FakeClient::When::BeforeItIsApplied, code::throttled);
  EXPECT_EQ(fake.set_acl("/a", open_acl(), 0, {}).code, code::throttled);
  const auto set_again = fake.set_acl("/a", open_acl(), 1, {});
  EXPECT_EQ(set_again.code, code::ok);
  EXPECT_EQ(set_again.value.aversion, 2);
}

TEST_F(ClientReadTest, AReadIsNotSentToTheServersOfTheNextSession) {
  fake.create({.path = "/a", .data = "1"}, {});
  fake.fail_request(1, FakeClient::When::BeforeItIsApplied, code::closing);
  EXPECT_EQ(code_of([&] { fake.get("/a", Watch::none(), {}); }), code::closing);
}

TEST_F(ClientReadTest, AWriteIsNotSentAgain) {
  const auto before = fake.requests();
  lose_answers(1);
  EXPECT_EQ(code_of([&] { fake.create({.path = "/a", .data = ""}, {}); }), code::connection_loss);
  EXPECT_EQ(fake.requests() - before, 1U);
}

}  // namespace
}  // namespace zksh
