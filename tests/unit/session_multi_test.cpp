// Session's transactions on a real server: what they can create, and that guards work there.
#include "client/four_letter_word.h"
#include "client/guarded_client.h"
#include "failures.h"
#include "sandbox/sandbox.h"
#include "session/session.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// One server for all tests, a tree and two sessions of its own for each.
class SessionMulti : public testing::Test {
 public:
  SessionMulti(const SessionMulti&) = delete;
  SessionMulti& operator=(const SessionMulti&) = delete;

 protected:
  static void SetUpTestSuite() {
    monitor = new Monitor;
    sandbox = new Sandbox(*monitor);
  }
  static void TearDownTestSuite() {
    delete sandbox;
    delete monitor;
  }
  SessionMulti() {
    other.create({.path = root, .data = {}}, {});
    for (const char* path : {"/lock", "/lock/mine", "/data"}) {
      session.create({.path = path, .data = "old"}, {});
    }
  }
  void TearDown() override {
    for (const char* path : {"/lock/mine", "/lock", "/data", ""})
      other.start_remove({.path = root + path});
    other.await(other.start_sync("/"), {});
  }

  static std::unique_ptr<Session> connected(const std::string& chroot) {
    return std::make_unique<Session>(*monitor, SessionSettings{},
                                     sandbox->connect_string() + chroot,
                                     [](const Monitor::Held&, const Event&) {});
  }
  void guard(const std::string& node, const std::string& lock) {
    monitor->with_lock([&](const Monitor::Held& held) { guards(held).push_back({node, lock}); });
  }
  Stat stat(const std::string& path) { return session.exists(path, Watch::none(), {}).value(); }
  /// The server's own count of what the session has sent.
  int received() {
    session.await_connection("/", {});
    const auto& address = sandbox->connect_string();
    const int port = std::stoi(address.substr(address.find(':') + 1));
    const auto text = ask_servers({port}, "cons", Clock::now() + 60s).front();
    const auto own = text.find(fmt::format("sid=0x{:x}", session.session_id()));
    const std::string_view key = "recved=";
    const auto count = text.rfind(key, own);
    return own == std::string::npos ? -1 : std::stoi(text.substr(count + key.size()));
  }
  std::string data() { return *session.get("/data", Watch::none(), {}).data; }

  static inline Monitor* monitor;
  static inline Sandbox* sandbox;
  // With a chroot: it is where the C client frees what it does not own.
  const std::string root = "/root";
  std::unique_ptr<Session> other_session = connected("");
  std::unique_ptr<Session> own_session = connected(root);
  Session& other = *other_session;
  Session& session = *own_session;
  Guarded<GuardedClient::Guards> guards;
  GuardedClient client{session, [this](const Monitor::Held& held) { return guards(held); }};
};

TEST_F(SessionMulti, WhatTheCClientCannotSendIsRefusedAndDoesNoHarm) {
  const SetOp set{.path = "/data", .data = "new"};
  const auto create = [](const std::string& path, CreateMode mode, std::int64_t ttl) {
    return CreateOp{.path = path, .data = "x", .mode = mode, .ttl = ttl};
  };
  const auto code = [&](const Op& op) { return code_of([&] { session.multi({set, op}, {}); }); };
  EXPECT_EQ(code(create("/data/c", CreateMode::Container, 0)), code::unimplemented);
  EXPECT_EQ(code(create("/data/t", CreateMode::Persistent, 1000)), code::unimplemented);
  EXPECT_EQ(code(create("/data//n", CreateMode::Persistent, 0)), code::bad_arguments);
  EXPECT_EQ(code(RemoveOp{.path = "data"}), code::bad_arguments);
  EXPECT_EQ(code(CheckOp{.path = "/data/"}), code::bad_arguments);
  EXPECT_EQ(data(), "old");

  EXPECT_EQ(code_of([&] { session.add_auth("unknown", "x", {}); }), code::auth_failed);
  const auto answer = session.start_multi({CheckOp{.path = "/data"}, CheckOp{.path = "/lock"}});
  EXPECT_EQ(session.await(answer, {}).code, code::auth_failed);
}

TEST_F(SessionMulti, AGuardedWriteIsOneRequestAndDoesWhatItDoesAlone) {
  guard("/lock/mine", "/lock");
  guard("/lock", "/lock");
  const int before = received();
  ASSERT_GT(before, 0);
  const auto created = [&](CreateMode mode, bool sequential) {
    return client
        .create({.path = "/data/n-", .data = {}, .mode = mode, .sequential = sequential}, {})
        .path;
  };
  EXPECT_EQ(created(CreateMode::Persistent, false), "/data/n-");
  EXPECT_EQ(created(CreateMode::Persistent, true), "/data/n-0000000001");
  EXPECT_EQ(created(CreateMode::Ephemeral, true), "/data/n-0000000002");
  EXPECT_EQ(client.set({.path = "/data", .data = "new", .version = 0}, {}).version, 1);
  const auto results =
      client.multi({CheckOp{.path = "/data"}, SetOp{.path = "/data", .data = "newer"}}, {});
  EXPECT_EQ(received() - before, 5);
  EXPECT_EQ(results.at(1).stat.version, 2);
  EXPECT_EQ(data(), "newer");
  EXPECT_EQ(session.get("/data/n-", Watch::none(), {}).data, std::nullopt);
  EXPECT_EQ(stat("/data/n-0000000001").ephemeral_owner, 0);
  EXPECT_EQ(stat("/data/n-0000000002").ephemeral_owner, session.session_id());

  EXPECT_EQ(code_of([&] { client.remove({.path = "/none"}, {}); }), code::no_node);
  EXPECT_EQ(code_of([&] { client.remove({.path = "/lock"}, {}); }), code::not_empty);
  EXPECT_EQ(code_of([&] { client.create({.path = "/data", .data = "x"}, {}); }), code::node_exists);
  EXPECT_EQ(code_of([&] { client.set({.path = "/data", .data = "x", .version = 7}, {}); }),
            code::bad_version);
  for (const auto* path : {"/data/n-", "/data/n-0000000001", "/data/n-0000000002"})
    client.remove({.path = path}, {});
  EXPECT_EQ(stat("/data").num_children, 0);
}

TEST_F(SessionMulti, TheServerRefusesAGuardedWriteWithoutTheLock) {
  guard("/lock/mine", "/lock");
  session.set_acl("/lock/mine",
                  {{.perms = perm::all & ~perm::read, .scheme = "world", .id = "anyone"}}, -1, {});
  const auto unreadable = session.await(client.start_set({.path = "/data", .data = "new"}), {});
  EXPECT_EQ(unreadable.code, code::no_auth);
  EXPECT_EQ(unreadable.culprit, "/lock/mine");
  other.remove({.path = root + "/lock/mine"}, {});
  const std::vector<std::function<void()>> writes = {
      [&] { client.create({.path = "/data/n", .data = "x"}, {}); },
      [&] { client.set({.path = "/data", .data = "new"}, {}); },
      [&] { client.remove({.path = "/data"}, {}); }};
  for (const auto& write : writes) EXPECT_EQ(code_of(write), code::lock_lost);
  EXPECT_EQ(data(), "old");
  EXPECT_EQ(stat("/data").num_children, 0);
}

}  // namespace
}  // namespace zksh
