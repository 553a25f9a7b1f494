// SequenceCounters: finds copies of sequential nodes that their parent's counter has yet to reach.
#include "tree/sequence_counters.h"

#include "base/error.h"
#include "base/number.h"
#include "base/words.h"
#include "client/node_path.h"
#include "client/rehearsal.h"
#include "command/work.h"
#include "tree/batch_writer.h"
#include "tree/tree_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace zksh {
namespace {

constexpr std::int64_t most_steps = 100'000'000;

}  // namespace

void declare_counters(Options& options, std::optional<std::int64_t>& target) {
  options.number("--advance-counters", target, "steps",
                 "Where children have sequence numbers that their parent's counter has not "
                 "reached, advance it past these, with at most this many steps in all, each a "
                 "create and a delete.");
}

SequenceCounters::SequenceCounters(const Plan& plan) : plan_(plan) {
  if (plan_.most_steps && (*plan_.most_steps < 1 || *plan_.most_steps > most_steps))
    throw ValueError(fmt::format("--advance-counters must be between 1 and {}", most_steps));
}

void SequenceCounters::add(const std::string& path, bool created) {
  if (path == "/") return;
  const auto parent = parent_path(path);
  while (!open_.empty() && !is_within(parent, open_.back().path)) close_last();
  if (open_.empty() || open_.back().path != parent) open_.push_back({.path = std::string(parent)});
  auto& above = open_.back();
  ++above.children;
  if (created) ++above.created;
  const auto name = base_name(path);
  const auto number = sequence_number(name);
  if (!number || *number <= above.highest) return;
  above.highest = *number;
  above.name = name;
}

void SequenceCounters::close_last() {
  // Each child was created below it, so its counter is at least the number of children.
  if (open_.back().highest >= open_.back().children) suspects_.push_back(std::move(open_.back()));
  open_.pop_back();
}

void SequenceCounters::finish(Context& cx) {
  while (!open_.empty()) close_last();
  read_counters(cx);
  if (suspects_.empty()) return;
  if (plan_.most_steps && steps() <= *plan_.most_steps) return advance(cx);
  warn(cx);
  if (plan_.most_steps && !cx.rehearsal)
    throw Error(fmt::format("no counter was advanced: {} needed, and --advance-counters allows {}",
                            steps() == 1 ? "1 step is" : fmt::format("{} steps are", steps()),
                            *plan_.most_steps));
}

/// Leaves only parents in `suspects_` whose counter is behind.
void SequenceCounters::read_counters(Context& cx) {
  const auto start = [&](const Parent& parent) {
    return cx.client.start_exists(parent.path, Watch::none());
  };
  const auto take = [&](Parent& parent, const Pending<Stat>& pending) {
    const auto now = cx.client.insist(
        pending, parent.path, [&] { return start(parent); }, cx.stop);
    if (now.code == code::no_auth || (now.code == code::no_node && !cx.rehearsal)) {
      parent.next = parent.highest + 1;  // it cannot be known, or is gone
      return true;
    }
    if (now.code != code::ok && now.code != code::no_node) throw ZkError(now.code, parent.path);
    parent.next = sequence_counter(now.value) + (cx.rehearsal ? parent.created : 0);
    return true;
  };
  ask_in_order(suspects_, window_of(cx.client, plan_.limits), start, take);
  std::erase_if(suspects_, [](const Parent& parent) { return parent.steps() <= 0; });
}

std::int64_t SequenceCounters::steps() const {
  std::int64_t all = 0;
  for (const auto& parent : suspects_) all += parent.steps();
  return all;
}

void SequenceCounters::warn(Context& cx) const {
  const auto say = [&](const std::string& text) {
    if (cx.rehearsal)  // where all else is silent
      cx.out.err_line_regardless(text);
    else
      cx.out.err_line("{}", text);
  };
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, suspects_.size()); ++i) {
    const auto& parent = suspects_[i];
    say(fmt::format("warning: `create -s` below {} {} the number {} next, although {} is there",
                    as_word(parent.path), cx.rehearsal ? "would take" : "takes", parent.next,
                    as_word(parent.name)));
  }
  if (suspects_.size() > most)
    say(fmt::format("warning: the same holds for {} more", suspects_.size() - most));
  const auto option = fmt::format("--advance-counters {}", steps());
  const bool one = suspects_.size() == 1;
  const std::string_view counters = one ? "the counter" : "the counters";
  if (cx.rehearsal)
    say(fmt::format("{} advances {} past that", option, counters));
  else if (plan_.repeatable)
    say(fmt::format("to advance {} past that, run it again with {}", counters, option));
  else
    say(fmt::format("to advance {} past that, make a dump of {} and run `apply {}` with it",
                    counters, one ? as_word(suspects_.front().path) : "the copy", option));
}

/// Sends pairs of operations, so that a transaction has both.
void SequenceCounters::advance(Context& cx) const {
  if (cx.rehearsal) {
    for (const auto& parent : suspects_)
      cx.rehearsal->note({.verb = "advance the counter of",
                          .path = parent.path,
                          .detail = fmt::format("from {} to {}", parent.next, parent.highest + 1)});
    return;
  }
  const auto total = static_cast<std::size_t>(steps());
  const auto name = fmt::format("zksh-counter-{:x}", cx.client.session_id());
  std::optional<ZkError> failure;
  std::size_t done = 0;
  Progress progress(cx.out, cx.background, "steps");
  const auto take = [&](const Write& write, const Written& result) {
    const bool is_done =
        result.code == code::ok ||
        (result.sent_before && (result.code == code::node_exists || result.code == code::no_node));
    if (!is_done && !failure)
      failure.emplace(result.code, std::string(parent_path(path_of(write))), true);
    if (is_done && std::holds_alternative<RemoveOp>(write)) progress.reach(++done, total);
  };
  BatchWriter writer(cx.client, {.limits = plan_.limits}, take, cx.stop);
  const auto work = [&] {
    for (const auto& parent : suspects_) {
      const auto path = join_path(parent.path, name);
      for (auto left = parent.steps(); left > 0 && !failure; --left) {
        writer.add(CreateOp{.path = path, .data = {}, .mode = CreateMode::Ephemeral});
        writer.add(RemoveOp{.path = path});
      }
    }
    writer.finish();
    if (failure) throw ZkError(*failure);
  };
  report_if_incomplete(cx, progress, work, [&] {
    return fmt::format("all nodes are there, but the counters were advanced by {} of {}", done,
                       counted(total, "step"));
  });
}

}  // namespace zksh
