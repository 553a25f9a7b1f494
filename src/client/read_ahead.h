// ReadAhead: reads that are sent side by side before the first answer is waited for.
#pragma once

#include "client/client.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace zksh {

/// A read that has been sent. Far from the servers, reads that do not depend on each other take as
/// long together as one. Sent when it is made, so a connection must have been awaited. Used by one
/// thread.
template <class T>
class ReadAhead {
 public:
  using Start = std::function<Pending<T>()>;

  /// `client` must outlive it; `start` sends the read, again if the connection is lost.
  ReadAhead(Client& client, std::string path, Start start)
      : client_(client), path_(std::move(path)), start_(std::move(start)), sent_(start_()) {}

  /// The outcome, whatever its code. Call it once. Blocks; throws Cancelled, and as
  /// await_reconnection.
  Outcome<T> outcome(const std::stop_token& stop) {
    return client_.get().insist(sent_, path_, start_, stop);
  }
  /// The answer. Call it once. Blocks; throws as the blocking members of Client do.
  T answer(const std::stop_token& stop) {
    return client_.get().answer_of(sent_, path_, start_, stop);
  }
  /// As answer, but nullopt if there is no such node.
  std::optional<T> found(const std::stop_token& stop) {
    auto read = outcome(stop);
    if (read.code == code::no_node) return std::nullopt;
    if (read.code != code::ok) throw ZkError(read.code, path_);
    return std::move(read.value);
  }
  const std::string& path() const { return path_; }

 private:
  std::reference_wrapper<Client> client_;
  std::string path_;
  Start start_;
  Pending<T> sent_;
};

inline ReadAhead<Stat> ahead_exists(Client& client, const std::string& path) {
  return {client, path, [&client, path] { return client.start_exists(path, Watch::none()); }};
}
inline ReadAhead<Node> ahead_get(Client& client, const std::string& path) {
  return {client, path, [&client, path] { return client.start_get(path, Watch::none()); }};
}
inline ReadAhead<NodeAcl> ahead_get_acl(Client& client, const std::string& path) {
  return {client, path, [&client, path] { return client.start_get_acl(path); }};
}

}  // namespace zksh
