// Quota text: parses and formats quotas as ZooKeeper keeps them in znodes.
#include "client/quota_text.h"

#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
std::optional<QuotaText> QuotaText::parse(std::string_view text) {
  QuotaText quota;
  if (text.find_first_not_of(",;") == std::string_view::npos) return quota;
  while (!text.empty()) {
    const auto pair = text.substr(0, text.find_first_of(",;"));
    text.remove_prefix(pair.size());
    text.remove_prefix(std::min(text.find_first_not_of(",;"), text.size()));

    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto rest = pair.substr(equals + 1);
    const auto number = rest.substr(0, rest.find('='));
    const auto value = java_number_in<std::int64_t>(number);
    // Java reads "key==1" as -1, and "key=" is an error.
    const bool is_empty = number.empty() && rest.find_first_not_of('=') != std::string_view::npos;
    if (!value && !is_empty) return std::nullopt;
    quota.set(pair.substr(0, equals), value.value_or(-1));
  }
  return quota;
}

std::int64_t QuotaText::get(std::string_view key) const {
  const auto entry = values_.find(key);
  return entry == values_.end() ? -1 : entry->second;
}

void QuotaText::set(std::string_view key, std::int64_t value) {
  values_.insert_or_assign(std::string(key), value);
}

std::string QuotaText::text() const {
  std::string others;
  for (const auto& [key, value] : values_) {
    if (key != count && key != bytes) others += fmt::format(";{}={}", key, value);
  }
  const auto* separator = others.empty() ? "" : "=";
  return fmt::format("{}={},{}={}{}{}", count, get(count), bytes, get(bytes), separator, others);
}

}  // namespace zksh
