// ContentionSessions: the sessions over which contenders are spread.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <stop_token>
#include <vector>

namespace zksh {

/// The shell's own session and further ones, which are closed at the end.
class ContentionSessions {
 public:
  /// Blocks until all of them are connected. Throws ZkError when there is no server, Error when the
  /// servers take fewer sessions than `count`, Cancelled on a stop.
  ContentionSessions(Client& own, std::size_t count, const std::stop_token& stop);
  ContentionSessions(const ContentionSessions&) = delete;
  ContentionSessions& operator=(const ContentionSessions&) = delete;
  /// Closes the further ones, all at the same time; takes 3 s at most.
  ~ContentionSessions();

  const std::vector<Client*>& clients() const { return clients_; }
  /// Their ids, those of expired ones left out.
  std::set<std::int64_t> ids() const;

 private:
  void open(std::size_t count);
  void await_all(const std::stop_token& stop);
  void authenticate(const std::stop_token& stop);
  void close();

  Client& own_;
  std::vector<std::unique_ptr<Client>> further_;
  std::vector<Client*> clients_;  ///< the own one first
};

}  // namespace zksh
