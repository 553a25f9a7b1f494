// LockPicture: the chains of who waits for whom.
#include "base/text.h"
#include "lock/lock_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace zksh {
namespace {

/// Seats' numbers; each of one stage waits for one of the stage before.
using Stage = std::vector<std::size_t>;

std::string stage_text(const Stage& stage, const PictureStyle& style) {
  constexpr std::size_t shown = 4;
  if (stage.size() == 1) return fmt::format("#{}", stage.front());
  std::string text;
  for (std::size_t i = 0; i < stage.size(); ++i) {
    const bool left_out = stage.size() > shown && i > 0 && i + 1 < stage.size();
    if (left_out && i > 1) continue;
    text += i == 0 ? "{" : " ";
    text += left_out ? (style.ascii ? "..." : "…") : fmt::format("#{}", stage[i]);
  }
  return text + "}";
}

std::vector<Stage> stages_from(Stage first, const std::map<std::size_t, Stage>& waiting) {
  std::vector<Stage> stages;
  for (Stage next = std::move(first); !next.empty();) {
    stages.push_back(std::exchange(next, {}));
    for (const auto number : stages.back())
      if (const auto found = waiting.find(number); found != waiting.end())
        next.insert(next.end(), found->second.begin(), found->second.end());
    std::ranges::sort(next);
  }
  return stages;
}

std::string joined(const std::vector<std::string>& texts, std::size_t from, std::size_t to,
                   std::string_view arrow) {
  std::string text;
  for (auto i = from; i < to; ++i)
    text += (i == from ? std::string() : std::string(arrow)) + texts[i];
  return text;
}

/// A chain that is too long for a line loses its middle: its ends are where things happen.
std::string chain_text(const std::vector<Stage>& stages, const PictureStyle& style) {
  const std::string arrow = style.ascii ? " <- " : " ◄ ";
  const std::string gap = arrow + (style.ascii ? "..." : "…") + arrow;
  const std::size_t columns = style.columns == 0 ? 100 : style.columns;
  std::vector<std::string> texts;
  texts.reserve(stages.size());
  for (const auto& stage : stages) texts.push_back(stage_text(stage, style));
  auto text = joined(texts, 0, std::min<std::size_t>(texts.size(), columns), arrow);
  if (texts.size() <= columns && text_width(text) <= columns) return text;
  const auto end = gap + texts.back();
  text = texts.front();
  for (std::size_t i = 1; i + 1 < texts.size(); ++i) {
    const auto more = arrow + texts[i];
    if (text_width(text) + text_width(more) + text_width(end) > columns) break;
    text += more;
  }
  return text + end;
}

}  // namespace

std::vector<std::string> lock_chains(const LockView& view, const PictureStyle& style) {
  std::map<std::size_t, Stage> waiting;
  Stage holders;
  Stage next;
  std::vector<Stage> alone;
  for (const auto& seat : view.seats) {
    if (seat.waits_for)
      waiting[*seat.waits_for].push_back(seat.number);
    else if (seat.state == SeatState::Holds)
      holders.push_back(seat.number);
    else if (seat.state == SeatState::Next)
      next.push_back(seat.number);
    else
      alone.push_back({seat.number});
  }
  // Who waits for any of the leases waits for the last of them as well as for the others.
  if (!next.empty() && !holders.empty()) waiting[holders.back()] = next;
  std::vector<Stage> first{holders.empty() ? next : holders};
  first.insert(first.end(), alone.begin(), alone.end());
  std::vector<std::string> lines;
  for (const auto& stage : first) {
    const auto stages = stages_from(stage, waiting);
    if (stages.size() > 1) lines.push_back(chain_text(stages, style));
  }
  return lines;
}

}  // namespace zksh
