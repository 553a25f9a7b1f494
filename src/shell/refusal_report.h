// RefusalReport: says at once why no server can be connected to, while zksh goes on trying.
#pragma once

#include "session/session.h"

#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace zksh {

/// Reports once. Only what is certain: a refused connection or a name
/// that does not resolve, of every server; whether one answers slowly cannot be known at once.
class RefusalReport {
 public:
  /// `report` gets the reason, on any thread. All arguments outlive the object.
  RefusalReport(Session& session, std::function<void(const std::string&)> report)
      : session_(session), report_(std::move(report)) {}
  RefusalReport(const RefusalReport&) = delete;
  RefusalReport& operator=(const RefusalReport&) = delete;
  ~RefusalReport() = default;

  /// Looks, on a thread of its own. Call when somebody has waited for a connection for some time;
  /// on any thread.
  void look();

 private:
  void ask(const std::stop_token& stop);

  Session& session_;
  std::function<void(const std::string&)> report_;
  std::mutex mutex_{};
  bool looking_ = false;
  bool reported_ = false;
  std::jthread thread_{};  ///< last: it uses the others
};

}  // namespace zksh
