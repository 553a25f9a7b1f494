// ContentionTable: what a contention came to, for people to read, beside another one.
#pragma once

#include "ensemble/watch_counts.h"
#include "lock/contention_statistics.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// One contention and all that is known of it.
struct ContentionSummary {
  std::string title{};  ///< of its columns: the recipe
  ContentionStatistics statistics{};
  std::size_t requests = 0;
  std::optional<WatchCountsBetween> counted{};  ///< by the servers
  std::size_t znodes_left = 0;
};

/// At most two fit 80 columns.
std::vector<std::string> contention_table(const std::vector<ContentionSummary>& summaries);

/// The same for programs: a name and a figure for each contention, separated by tabs; times in
/// microseconds, "-" for what is not known.
std::vector<std::string> contention_figures(const std::vector<ContentionSummary>& summaries);

/// The same figures as an object of JSON, on one line; null for what is not known.
std::string contention_json(const ContentionSummary& summary);

/// How much more the second one costs, in a sentence; empty when there is nothing to compare.
std::string compared(const ContentionSummary& first, const ContentionSummary& second);

}  // namespace zksh
