// Session: closed, lost and expired sessions leave nothing behind, and do not disturb others.
#include "sanitized.h"
#include "session/session.h"
#include "session_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// What the process has in use.
struct Use {
  std::ptrdiff_t descriptors;
  std::ptrdiff_t threads;
  long memory;  ///< in pages

  static Use now() {
    const auto count = [](const char* directory) {
      return std::distance(std::filesystem::directory_iterator(directory),
                           std::filesystem::directory_iterator());
    };
    long all = 0;
    long resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return {count("/proc/self/fd"), count("/proc/self/task"), resident};
  }
};

class SessionCycles : public testing::Test {
 protected:
  std::unique_ptr<Session> connected() {
    auto session = std::make_unique<Session>(
        monitor, SessionSettings{.connect_timeout = 30s}, server.at("127.0.0.1"),
        [this](const Monitor::Held&, const Event&) { ++told; });
    session->await_connection("/", {});
    return session;
  }
  /// Cuts the session's connection, and waits until it knows what has become of it.
  bool is_cut(Session& session, bool expires) {
    const auto before = monitor.with_lock([&](const Monitor::Held&) { return told; });
    server.cut(session.session_id(), expires);
    return monitor.wait_until({}, Clock::now() + 30s, [&](const Monitor::Held& held) {
      const auto wanted = expires ? SessionState::Expired : SessionState::Connected;
      return told > before && session.state(held) == wanted;
    });
  }
  /// Uses up a session in one of three ways, and has the next one.
  void play(Session& session, std::size_t number) {
    const auto before = session.session_id();
    EXPECT_FALSE(session.exists("/a", Watch::none(), {}));
    const auto watched = std::make_shared<Guarded<std::deque<Event>>>();
    session.exists("/b", Watch::into(watched), {});
    if (number % 3 == 0)
      session.open(server.at("127.0.0.1"));
    else
      ASSERT_TRUE(is_cut(session, number % 3 == 1));
    session.ensure_session();
    session.await_connection("/", {});
    EXPECT_EQ(session.session_id() == before, number % 3 == 2);
  }

  Monitor monitor;
  SessionServer server{0x101};
  std::size_t told = 0;  ///< events of sessions; under the monitor
};

// ZKSH_CYCLES=10000 for a long run.
TEST_F(SessionCycles, NothingIsLeftAndNobodyIsDisturbed) {
  const auto* const wanted = std::getenv("ZKSH_CYCLES");
  const std::size_t cycles = wanted ? std::strtoul(wanted, nullptr, 10) : 300;
  std::vector<std::unique_ptr<Session>> others;
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 7; ++i) {
    others.push_back(connected());
    ids.push_back(others.back()->session_id());
  }
  const auto session = connected();
  const std::size_t warm = cycles / 3;
  Use before{};
  for (std::size_t number = 0; number < cycles; ++number) {
    if (number == warm) before = Use::now();
    play(*session, number);
    if (HasFatalFailure()) return;
  }
  const auto after = Use::now();
  EXPECT_LE(after.descriptors, before.descriptors + 1);  // a connection may just be coming
  EXPECT_LE(after.threads, before.threads);
  if (!sanitized) {
    EXPECT_LE(after.memory, before.memory + 256);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(others[i]->current_state(), SessionState::Connected);
    EXPECT_EQ(others[i]->session_id(), ids[i]);
  }
}

}  // namespace
}  // namespace zksh
