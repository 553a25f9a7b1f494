// LockText: one-line messages about locks.
#include "lock/text.h"

#include "base/number.h"
#include "base/text.h"
#include "client/node_path.h"
#include "lock/view.h"

#include <fmt/ranges.h>

#include <chrono>

namespace zksh {
namespace {

double in_seconds(auto duration) { return std::chrono::duration<double>(duration).count(); }

std::string seconds_text(std::int64_t milliseconds) {
  return fmt::format("{:.1f} s", static_cast<double>(milliseconds) / 1000);
}

std::string ordinal(std::size_t number) {
  const auto teen = number % 100 >= 11 && number % 100 <= 13;
  const char* suffix = "th";
  if (!teen && number % 10 == 1) suffix = "st";
  if (!teen && number % 10 == 2) suffix = "nd";
  if (!teen && number % 10 == 3) suffix = "rd";
  return fmt::format("{}{}", number, suffix);
}

/// "_c_8fedd093…-lock-0000000004": enough to find the node in a listing.
std::string short_node(const std::string& path) { return with_short_guids(base_name(path)); }

}  // namespace

std::string owner_in_line(const std::string& data) {
  if (is_release_request(data)) {
    const auto owner = owner_before_request(data);
    return owner ? owner_in_line(*owner) + ", asked to release"
                 : "a contender that was asked to release";
  }
  std::string text = data;
  for (const std::string_view field : {" user=", " via=", " guid="}) {
    const auto begin = text.find(field);
    if (begin == std::string::npos) continue;
    const auto end = text.find(' ', begin + 1);
    text.erase(begin, end == std::string::npos ? end : end - begin);
  }
  constexpr std::size_t longest = 101;
  return cut_to_width(escape_for_terminal(text), longest);
}

std::string asker_in_line(const Data& data) {
  constexpr std::string_view by = " by ";
  const auto at = data ? data->find(by) : std::string::npos;
  if (at == std::string::npos) return "";
  return owner_in_line(data->substr(at + by.size(), data->find('\n') - at - by.size()));
}

std::string tokens_text(const Holding& holding, std::string_view separator) {
  if (holding.tokens.empty()) return std::to_string(holding.token);
  return fmt::format("{}", fmt::join(holding.tokens, separator));
}

Json token_json(std::int64_t token) { return token == 0 ? Json() : Json(zxid_text(token)); }

std::string acquired_line(const Lock& lock, const LockStatus& status) {
  return fmt::format("acquired {}  token={}  node={}  waited={:.3f}s", lock.name(),
                     tokens_text(status.holding, ","), short_node(status.holding.nodes.front()),
                     in_seconds(status.held - status.asked));
}

std::string released_line(const Lock& lock, const LockStatus& status) {
  return fmt::format("released {}  held={:.3f}s", lock.name(),
                     in_seconds(Clock::now() - status.held));
}

namespace {

std::string behind(const LockPlace& place) {
  auto text = "behind " + (place.predecessor.empty() ? short_node(place.predecessor_node)
                                                     : owner_in_line(place.predecessor));
  if (place.predecessor_stays) text += ", whose node is persistent: only deleting it ends the wait";
  return text;
}

/// Of the first in a queue.
std::string persistence(const LockPlace& place) {
  return place.holder_stays ? "; its node is persistent: only deleting it ends that" : "";
}

/// For a semaphore: waiting behind others, or for leases.
std::string waiting_for_leases(const std::string& path, const LockPlace& place) {
  const auto& leases = place.leases;
  if (place.position > 0)
    return fmt::format("waiting {}: {} of {} waiting for leases, {}", path, ordinal(place.position),
                       place.count, behind(place));
  auto line =
      leases.taken >= leases.all
          ? fmt::format("waiting {}: no lease free, {} of {} taken", path, leases.taken, leases.all)
          : fmt::format("waiting {}: {} leases wanted, {} of {} taken", path, leases.wanted,
                        leases.taken, leases.all);
  if (!place.holder.empty() && place.holder_age_ms)
    line += fmt::format(" (the oldest for {}: {}{})", seconds_text(*place.holder_age_ms),
                        owner_in_line(place.holder), persistence(place));
  return line;
}

}  // namespace

std::string waiting_line(const std::string& path, const LockPlace& place) {
  if (place.leases.all > 0) return waiting_for_leases(path, place);
  if (place.position == 0) {  // there is no queue, or it is not in it
    auto line = fmt::format("waiting {}: {}", path, behind(place));
    if (!place.holder.empty() && place.holder_age_ms)
      line += fmt::format(" (has held it for {})", seconds_text(*place.holder_age_ms));
    return line;
  }
  auto line = fmt::format("waiting {}: {} of {}, {}", path, ordinal(place.position), place.count,
                          behind(place));
  if (!place.holder_age_ms) return line;
  // The time in the queue; only the holder knows how much of it was waiting.
  const auto holder = fmt::format("has held it for at most {}", seconds_text(*place.holder_age_ms));
  if (place.position == 2) return fmt::format("{} ({})", line, holder);
  return fmt::format("{} (first: {}, {}{})", line, owner_in_line(place.holder), holder,
                     persistence(place));
}

}  // namespace zksh
