// Session: its life with a server that only accepts sessions: unresolvable names, stale attempts,
// expiry, and a session that cannot be replaced.
#include "session/session.h"

#include "base/error.h"
#include "session_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <netdb.h>
#include <string>
#include <thread>
#include <vector>

namespace {

/// What becomes of look-ups of names that begin with "moving"; all others are the system's.
enum class Names { AreThere, AreMissing, Hang };
std::atomic<Names> names{Names::AreThere};
std::atomic<int> hanging{0};

}  // namespace

// For the linker this is the C library's function.
extern "C" int told_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                                addrinfo** result) __asm__("getaddrinfo");

extern "C" int told_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                                addrinfo** result) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool ours = node && std::strncmp(node, "moving", 6) == 0;
  if (!ours) return system(node, service, hints, result);
  if (hints && (hints->ai_flags & AI_NUMERICHOST) != 0) return EAI_NONAME;
  ++hanging;
  while (names == Names::Hang) std::this_thread::yield();
  --hanging;
  if (names == Names::AreMissing) return EAI_NONAME;
  return system("127.0.0.1", service, hints, result);
}

namespace zksh {
namespace {

using namespace std::chrono_literals;

struct SessionTest : testing::Test {
  SessionTest() { names = Names::AreThere; }
  ~SessionTest() override { names = Names::AreThere; }
  SessionTest(const SessionTest&) = delete;
  SessionTest& operator=(const SessionTest&) = delete;

  std::unique_ptr<Session> session_with(const std::string& server) {
    return std::make_unique<Session>(
        monitor, SessionSettings{.connect_timeout = 5s}, server,
        [this](const Monitor::Held&, const Event& event) { heard.push_back(event.state); });
  }
  bool becomes(Session& session, SessionState state) {
    return monitor.wait_until({}, Clock::now() + 60s, [&](const Monitor::Held& held) {
      return session.state(held) == state;
    });
  }

  Monitor monitor;
  std::vector<SessionState> heard;  // under the monitor
  SessionServer first{0x100};
  SessionServer second{0x200};
};

TEST_F(SessionTest, OneThatExpiresWithoutNamesIsOpenedAgainWhenTheyAreBack) {
  const auto session = session_with(first.at("moving"));
  session->await_connection("/", {});
  EXPECT_EQ(session->session_id(), 0x100);
  first.expire_all();
  ASSERT_TRUE(becomes(*session, SessionState::Expired));
  names = Names::AreMissing;  // only now: the C client looks them up to connect again, too
  session->ensure_session();
  EXPECT_EQ(session->current_state(), SessionState::Connecting);
  EXPECT_TRUE(monitor.with_lock([&](const Monitor::Held& held) {
    return session->between_sessions(held) && session->session_id(held) == 0;
  }));
  EXPECT_THROW(session->await_connection("/", {}), Error);  // says that they do not resolve
  names = Names::AreThere;
  EXPECT_TRUE(becomes(*session, SessionState::Connected));  // nobody asks again
  EXPECT_EQ(session->session_id(), 0x101);
}

TEST_F(SessionTest, AWaitForNamesThatHangEndsWithAStop) {
  names = Names::Hang;
  const auto session = session_with(first.at("moving"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(session->await_connection("/", stop.get_token()), Cancelled);
  names = Names::AreThere;
}

TEST_F(SessionTest, AnAttemptThatCameTooLateReplacesNothing) {
  const auto session = session_with(first.at("moving"));
  session->await_connection("/", {});
  first.expire_all();
  ASSERT_TRUE(becomes(*session, SessionState::Expired));
  names = Names::Hang;  // only now: the C client looks them up to connect again, too
  session->ensure_session();
  while (hanging == 0) std::this_thread::yield();
  session->replace_session(second.at("127.0.0.1"), [] {}, {});
  EXPECT_EQ(session->session_id(), 0x200);
  names = Names::AreThere;
  while (hanging > 0) std::this_thread::yield();
  // A session of the first server would be there before this one.
  const auto other = session_with(first.at("moving"));
  other->await_connection("/", {});
  EXPECT_EQ(session->session_id(), 0x200);
  EXPECT_EQ(session->server(), second.at("127.0.0.1"));
}

TEST_F(SessionTest, OneThatIsClosedWhileItIsOpenedStaysClosed) {
  names = Names::Hang;
  const auto session = session_with(first.at("moving"));
  session->ensure_session();
  while (hanging == 0) std::this_thread::yield();
  session->close();
  names = Names::AreThere;
  while (hanging > 0) std::this_thread::yield();
  EXPECT_EQ(session->current_state(), SessionState::Closed);
  EXPECT_THROW(session->await_connection("/", {}), ZkError);
}

TEST_F(SessionTest, OneThatCannotBeReplacedStays) {
  const auto session = session_with(first.at("127.0.0.1"));
  session->await_connection("/", {});
  bool ended = false;
  const auto end = [&] { ended = true; };
  names = Names::AreMissing;
  EXPECT_THROW(session->replace_session(second.at("moving"), end, {}), Error);
  EXPECT_THROW(session->replace_session("127.0.0.1:", end, {}), UsageError);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(session->replace_session(second.at("127.0.0.1"), end, stop.get_token()), Cancelled);
  EXPECT_FALSE(ended);
  const auto refuse = [] { throw Error("not now"); };
  EXPECT_THROW(session->replace_session(second.at("127.0.0.1"), refuse, {}), Error);
  EXPECT_EQ(session->session_id(), 0x100);
  EXPECT_EQ(session->current_state(), SessionState::Connected);
  EXPECT_EQ(session->server(), first.at("127.0.0.1"));
  EXPECT_EQ(monitor.with_lock([&](const Monitor::Held&) { return heard; }),
            std::vector{SessionState::Connected});
}

}  // namespace
}  // namespace zksh
