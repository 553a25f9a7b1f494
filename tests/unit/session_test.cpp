// Session: its life with a server that only accepts sessions: unresolvable names, stale attempts,
// expiry, and a session that cannot be replaced.
#include "session/session.h"

#include "base/error.h"
#include "base/fd.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
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

/// Gives every client a session, answers nothing else, and lets sessions expire.
class GreetingServer {
 public:
  explicit GreetingServer(std::int64_t first_session) : next_session_(first_session) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(0, bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size));
    EXPECT_EQ(0, listen(listener_.get(), 10));
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  std::string at(const std::string& host) const { return host + ":" + std::to_string(port_); }
  /// Who comes back with a session hears that it has expired; all connections are closed.
  void expire_all() { expire_ = true; }

 private:
  void serve(const std::stop_token& stop) {
    std::vector<Fd> clients;
    while (!stop.stop_requested()) {
      if (expire_.exchange(false)) clients.clear();
      std::vector<pollfd> all{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
      for (const auto& client : clients)
        all.push_back({.fd = client.get(), .events = POLLIN, .revents = 0});
      poll(all.data(), all.size(), 5);
      for (std::size_t i = all.size(); i-- > 1;)
        if (all[i].revents != 0 && !answer(clients[i - 1].get()))
          clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      if ((all.front().revents & POLLIN) != 0)
        clients.emplace_back(accept(listener_.get(), nullptr, nullptr));
    }
  }

  static void put(std::string& to, std::int64_t number, int bytes) {
    while (bytes-- > 0) to += static_cast<char>(number >> 8 * bytes);
  }

  /// A frame of the client; false at its end.
  bool answer(int fd) {
    constexpr ssize_t size_of_greeting = 48;
    std::array<char, 4096> bytes{};
    const auto size = recv(fd, bytes.data(), bytes.size(), MSG_PEEK);
    if (size <= 0) return false;
    // A greeting, by its length, which may come alone; all others stay without an answer.
    const bool greets = bytes[3] == 44 || bytes[3] == 45;
    if (greets && size < size_of_greeting) return true;
    recv(fd, bytes.data(), static_cast<std::size_t>(size), 0);
    if (!greets) return true;
    bool fresh = true;
    for (int i = 20; i < 28; ++i) fresh = fresh && bytes[static_cast<std::size_t>(i)] == 0;
    std::string greeting;
    put(greeting, 37, 4);
    put(greeting, 0, 4);
    put(greeting, fresh ? 6000 : 0, 4);
    put(greeting, fresh ? next_session_++ : 0, 8);
    put(greeting, 16, 4);
    greeting.append(17, '\0');
    return send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL) > 0;
  }

  Fd listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port_ = 0;
  std::int64_t next_session_;
  std::atomic<bool> expire_{false};
  std::jthread thread_;
};

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
    return monitor.wait_until({}, Clock::now() + 10s, [&](const Monitor::Held& held) {
      return session.state(held) == state;
    });
  }

  Monitor monitor;
  std::vector<SessionState> heard;  // under the monitor
  GreetingServer first{0x100};
  GreetingServer second{0x200};
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
