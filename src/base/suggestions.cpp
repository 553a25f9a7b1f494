// Suggestions: the known words closest to a misspelled one.
#include "base/suggestions.h"

#include "base/text.h"

#include <algorithm>
#include <tuple>

namespace zksh {
namespace {

// Distances are in half edits, so that wrong case costs less than a wrong letter.
constexpr std::size_t edit = 2;

std::size_t letter_cost(char a, char b) {
  if (a == b) return 0;
  return lower_case(a) == lower_case(b) ? edit / 2 : edit;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i * edit;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j * edit;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + edit, cost[i][j - 1] + edit,
                             cost[i - 1][j - 1] + letter_cost(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + edit);
    }
  return cost[a.size()][b.size()];
}

/// How far two words may be apart, of which the longer has so many letters, its dashes left out.
std::size_t allowed_distance(std::size_t letters) {
  if (letters > 12) return 3 * edit;
  return letters > 6 ? 2 * edit : edit;
}

}  // namespace

std::vector<std::string> suggestions(std::string_view word,
                                     std::span<const std::string> candidates) {
  constexpr std::size_t longest = 64;  // longer words are no typos, and the cost is quadratic
  if (word.empty() || word.size() > longest) return {};
  std::vector<std::tuple<std::size_t, std::string>> close;
  for (const auto& candidate : candidates) {
    const auto dashes = std::min(candidate.find_first_not_of('-'), candidate.size());
    const auto letters = std::max(word.size(), candidate.size()) - dashes;
    const bool same_letters = equal_ignoring_case(word, candidate);
    const auto away = same_letters ? edit / 2 : distance(word, candidate);
    const bool beginning = word.size() > 1 && candidate.starts_with(word);
    if (away <= allowed_distance(letters) || beginning)
      close.emplace_back(beginning ? std::min(away, edit) : away, candidate);
  }
  std::ranges::sort(close);
  std::vector<std::string> best;
  for (const auto& [away, candidate] : close)
    if (best.size() < 3 && away == std::get<0>(close.front())) best.push_back(candidate);
  return best;
}

}  // namespace zksh
