// WatchCounts: the watch events that servers have sent, by their own counters.
#include "ensemble/watch_counts.h"

#include "ensemble/member_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace zksh {

WatchCountsBetween between(const WatchCounts& before, const WatchCounts& after) {
  WatchCountsBetween counts{.fired = after.fired - before.fired,
                            .left = std::max<std::int64_t>(after.set - before.set, 0)};
  if (after.servers > 1) return counts;
  const auto changes = after.changes - before.changes;
  if (counts.fired == changes)
    counts.most = std::min<std::int64_t>(changes, 1);
  else if (after.most > before.most)
    counts.most = after.most;
  return counts;
}

std::optional<WatchCounts> parse_watch_counts(const std::string& mntr) {
  WatchCounts counts;
  for (const auto* what : {"created", "deleted", "changed", "children"}) {
    const auto fired = number_field(mntr, fmt::format("zk_sum_node_{}_watch_count", what));
    const auto changes = number_field(mntr, fmt::format("zk_cnt_node_{}_watch_count", what));
    const auto most = number_field(mntr, fmt::format("zk_max_node_{}_watch_count", what));
    if (!fired || !changes || !most) return std::nullopt;
    counts.fired += *fired;
    counts.changes += *changes;
    counts.most = std::max(counts.most, *most);
  }
  const auto set = number_field(mntr, "zk_watch_count");
  if (!set) return std::nullopt;
  counts.set = *set;
  return counts;
}

std::optional<WatchCounts> ask_watch_counts(const std::string& connect_string,
                                            const AdminServers& admin_servers,
                                            Clock::time_point deadline, std::string& why) {
  const auto servers = parse_connect_string(connect_string).servers;
  std::vector<ServerQuestion> questions;
  questions.reserve(servers.size());
  for (const auto& server : servers) questions.push_back({.server = server, .word = "mntr"});
  const auto answers = ask_words(questions, admin_servers, {.deadline = deadline});
  WatchCounts all{.servers = servers.size()};
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const auto counts = parse_watch_counts(answers[i].text);
    if (!counts) {
      const auto* const reason = answers[i].text.empty()       ? "does not answer mntr"
                                 : is_refusal(answers[i].text) ? "does not allow mntr"
                                                               : "does not count watch events";
      why = fmt::format("{} {}{}", servers[i].text(), reason, admin_note(answers[i]));
      return std::nullopt;
    }
    all.fired += counts->fired;
    all.changes += counts->changes;
    all.most = std::max(all.most, counts->most);
    all.set += counts->set;
  }
  return all;
}

}  // namespace zksh
