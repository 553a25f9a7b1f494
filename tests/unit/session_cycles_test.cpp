// Session: closed, lost and expired sessions leave nothing behind, and do not disturb others.
#include "base/fd.h"
#include "sanitized.h"
#include "session/session.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;

/// Has sessions and no nodes. Cuts the connection of a session when it is told to; the session then
/// goes on, or has expired.
class CuttingServer {
 public:
  CuttingServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(0, bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size));
    EXPECT_EQ(0, listen(listener_.get(), 100));
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  const std::string& address() const { return address_; }
  void cut(std::int64_t session, bool expires) {
    expired_ = expires ? session : 0;
    cut_ = session;
  }

 private:
  struct Link {
    Fd fd;
    std::string unread{};
    std::int64_t session = 0;
    bool greeted = false;
  };

  void serve(const std::stop_token& stop) {
    std::vector<Link> links;
    while (!stop.stop_requested()) {
      std::vector<pollfd> all{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
      for (const auto& link : links)
        all.push_back({.fd = link.fd.get(), .events = POLLIN, .revents = 0});
      poll(all.data(), all.size(), 1);
      const auto ends = cut_.exchange(0);
      for (std::size_t i = all.size(); i-- > 1;) {
        auto& link = links[i - 1];
        const bool is_cut = link.greeted && link.session == ends;
        if (is_cut || (all[i].revents != 0 && !read(link)))
          links.erase(links.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      }
      if ((all.front().revents & POLLIN) != 0)
        links.push_back({.fd = Fd(accept(listener_.get(), nullptr, nullptr))});
    }
  }

  /// Returns false at the connection's end.
  bool read(Link& link) {
    std::array<char, 4096> bytes{};
    const auto size = recv(link.fd.get(), bytes.data(), bytes.size(), 0);
    if (size <= 0) return false;
    link.unread.append(bytes.data(), static_cast<std::size_t>(size));
    while (link.unread.size() >= 4) {
      const auto length = static_cast<std::size_t>(number_at(link.unread, 0, 4));
      if (link.unread.size() < 4 + length) break;
      if (!answer(link, std::string_view(link.unread).substr(4, length))) return false;
      link.unread.erase(0, 4 + length);
    }
    return true;
  }

  bool answer(Link& link, std::string_view frame) {
    constexpr std::int64_t close = 0xfffffff5;
    constexpr std::int64_t ping = 11;
    constexpr std::int64_t no_node = -101;
    std::string body;
    if (!std::exchange(link.greeted, true)) {
      link.session = number_at(frame, 16, 8);
      const bool is_over = link.session != 0 && link.session == expired_;
      if (link.session == 0) link.session = ++last_session_;
      put(body, 0, 4);
      put(body, is_over ? 0 : 20000, 4);
      put(body, is_over ? 0 : link.session, 8);
      put(body, 16, 4);
      body.append(17, '\0');
    } else {
      const auto operation = number_at(frame, 4, 4);
      if (operation == close) return false;
      put(body, number_at(frame, 0, 4), 4);
      put(body, 0, 8);
      put(body, operation == ping ? 0 : no_node, 4);
    }
    std::string sent;
    put(sent, static_cast<std::int64_t>(body.size()), 4);
    sent += body;
    return send(link.fd.get(), sent.data(), sent.size(), MSG_NOSIGNAL) > 0;
  }

  static std::int64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
    std::int64_t number = 0;
    for (const auto byte : bytes.substr(at, size))
      number = number << 8 | static_cast<unsigned char>(byte);
    return number;
  }
  static void put(std::string& to, std::int64_t number, int bytes) {
    while (bytes-- > 0) to += static_cast<char>(number >> 8 * bytes);
  }

  Fd listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string address_;
  std::int64_t last_session_ = 0x100;
  std::atomic<std::int64_t> cut_{0};
  std::atomic<std::int64_t> expired_{0};
  std::jthread thread_;
};

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
        monitor, SessionSettings{.connect_timeout = 30s}, server.address(),
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
      session.open(server.address());
    else
      ASSERT_TRUE(is_cut(session, number % 3 == 1));
    session.ensure_session();
    session.await_connection("/", {});
    EXPECT_EQ(session.session_id() == before, number % 3 == 2);
  }

  Monitor monitor;
  CuttingServer server;
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
