// Quota: the nodes that hold the limits and the usage of a subtree, and their texts.
#pragma once

#include "command/command.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace zksh {

class Client;

/// The value of a zookeeper_limits or zookeeper_stats node: StatsTrack in ZooKeeper 3.8.0.
class QuotaText {
 public:
  static constexpr std::string_view count = "count";
  static constexpr std::string_view bytes = "bytes";
  static constexpr std::string_view count_hard_limit = "countHardLimit";
  static constexpr std::string_view byte_hard_limit = "byteHardLimit";

  /// Parses "count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=-1", and the form up to 3.4,
  /// "count=5,bytes=-1". nullopt if it is malformed. An empty text has no keys.
  static std::optional<QuotaText> parse(std::string_view text);

  /// -1, meaning no limit, for a missing key.
  std::int64_t get(std::string_view key) const;
  void set(std::string_view key, std::int64_t value);

  /// As zkCli 3.8.0 writes and prints it: count, bytes, then the other keys, sorted. The `=` after
  /// the bytes then keeps parsers up to 3.4 working.
  std::string text() const;

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

/// Quotas are kept in /zookeeper/quota, under the paths without any chroot. Through a chroot they
/// are out of reach: then this opens a session of its own, without the chroot and with the same
/// credentials, and closes it when it is destroyed. Used on one thread.
class QuotaPlace {
 public:
  /// `client` must outlive this. Blocks; throws ZkError, Cancelled.
  QuotaPlace(Client& client, const std::stop_token& stop);
  QuotaPlace(const QuotaPlace&) = delete;
  QuotaPlace& operator=(const QuotaPlace&) = delete;
  ~QuotaPlace();

  /// For the nodes in /zookeeper/quota.
  Client& client() const { return own_ ? *own_ : given_; }
  /// The path of a node without the chroot.
  std::string whole(const std::string& path) const;
  /// The inverse: the path through the chroot; of a node outside it the whole path, with a remark.
  std::string inside_chroot(const std::string& whole) const;
  /// Calls `work`, which writes through client(). Throws ZkError{lock_lost} before it if this shell
  /// has lost a lock that guards its writes: those of another session are not guarded. Blocks;
  /// rethrows what it throws, and if a permission is missing outside the chroot, says so.
  void write(const std::function<void()>& work, const std::stop_token& stop) const;

 private:
  Client& given_;
  std::string chroot_;
  std::unique_ptr<Client> own_;
};

/// The root of a tree that mirrors the nodes with quotas.
inline constexpr std::string_view quota_root = "/zookeeper/quota";
inline constexpr std::string_view limits_name = "zookeeper_limits";
inline constexpr std::string_view usage_name = "zookeeper_stats";

/// The node in the quota tree that corresponds to `path`, a whole path (QuotaPlace).
std::string quota_node(const std::string& path);
/// Its children: the limits set by users, and the usage counted by the servers.
std::string limits_node(const std::string& path);
std::string usage_node(const std::string& path);

/// The path argument of listquota and delquota. On piped input an invalid path is accepted, as in
/// zkCli, which only uses it as the end of a longer one. Throws UsageError elsewhere.
std::string quota_argument(const Context& cx, const std::string& path);

/// Sets all limits of a node and creates what is missing of its quota; limits and usage in one
/// transaction, since the servers neither count nor enforce half a quota. Half a quota, which zkCli
/// may leave behind since it writes the two separately, is completed. Does not look for quotas
/// above and below. `path` is the client's, as for all that take a QuotaPlace. Blocks; throws
/// ZkError, Cancelled.
void write_quota(const QuotaPlace& place, const std::string& path, const QuotaText& limits,
                 const std::stop_token& stop);
/// Removes limits and usage, if there are any, in one transaction; then the node in the quota tree
/// and its parents, as far as they are empty. Blocks; throws ZkError, Cancelled.
void remove_quota(const QuotaPlace& place, const std::string& path, const std::stop_token& stop);

/// Whether the usage of `what`, QuotaText::count or bytes, exceeds its soft or its hard limit.
bool exceeds(const QuotaText& usage, const QuotaText& limits, std::string_view what);

/// Reads limits or usage. Throws ZkError, and Error if the node holds something else.
QuotaText read_quota(const QuotaPlace& place, const std::string& node, const std::stop_token& stop);

/// The error; if a quota was exceeded, names the node that has it and the limit that was hit, as
/// far as they can be read. Blocks; throws Cancelled.
ZkError explained_quota(Client& client, const ZkError& error, const std::stop_token& stop);

}  // namespace zksh
