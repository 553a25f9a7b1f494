// Quota text: parses and formats quotas as ZooKeeper keeps them in znodes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

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

}  // namespace zksh
