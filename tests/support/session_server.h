// SessionServer: a server that has sessions and no nodes, for tests of sessions.
#pragma once

#include "base/fd.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace zksh {

/// Gives every client a session, and answers that there is no such node. Cuts the connections of
/// sessions when it is told to; these then go on when they come back, or have expired.
class SessionServer {
 public:
  /// The sessions are numbered from this one on. Serves until it is destroyed.
  explicit SessionServer(std::int64_t first_session);

  std::string at(const std::string& host) const { return host + ':' + std::to_string(port_); }
  void cut(std::int64_t session, bool expires) {
    expired_ = expires ? session : 0;
    cut_ = session;
  }
  /// Cuts all connections; no session goes on.
  void expire_all() { cut(all, true); }

 private:
  static constexpr std::int64_t all = -1;
  struct Link {
    Fd fd;
    std::string unread{};
    std::int64_t session = 0;
    bool greeted = false;
  };

  void serve(const std::stop_token& stop);
  bool read(Link& link);
  bool answer(Link& link, std::string_view frame);

  Fd listener_;
  int port_ = 0;
  std::int64_t next_session_;
  std::atomic<std::int64_t> cut_{0};
  std::atomic<std::int64_t> expired_{0};
  std::jthread thread_;
};

}  // namespace zksh
