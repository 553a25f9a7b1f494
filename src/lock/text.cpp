// LockText: one-line messages about locks, and tables of this shell's locks.
#include "lock/text.h"

#include "base/column_table.h"
#include "base/mapped.h"
#include "base/named_values.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "client/node_path.h"
#include "client/zk_error.h"
#include "lock/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <exception>
#include <functional>

namespace zksh {
namespace {

std::string time_text(std::int64_t milliseconds) {
  return short_time(std::chrono::milliseconds(milliseconds));
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

bool has_token(const LockStatus& status) { return status.holding.token != 0; }

std::int64_t milliseconds_since(Clock::time_point then) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - then).count();
}

/// When it was acquired or, if it is not held, requested.
Clock::time_point since(const LockStatus& status) {
  return has_token(status) ? status.held : status.asked;
}

/// `node_name` shows the name of a contender's node.
std::string detail(const LockStatus& status,
                   const std::function<std::string(std::string_view)>& node_name) {
  if (status.stage == LockStatus::Stage::Lost) return escape_for_terminal(status.reason);
  if (status.revoked) return "asked to release";
  if (status.stage == LockStatus::Stage::Waiting && status.deadlock)
    return own_deadlock_text(*status.deadlock);
  if (status.stage == LockStatus::Stage::Waiting && status.place.count > 0) {
    const auto behind = status.place.predecessor.empty()
                            ? node_name(base_name(status.place.predecessor_node))
                            : short_owner(status.place.predecessor);
    return fmt::format("{} of {}, behind {}", status.place.position, status.place.count,
                       escape_for_terminal(behind));
  }
  const auto names = mapped(status.holding.nodes, [&](const std::string& node) {
    return escape_for_terminal(node_name(base_name(node)));
  });
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::string owner_in_line(const std::string& data) {
  if (is_release_request(data)) {
    const auto owner = owner_before_request(data);
    return owner ? owner_in_line(*owner) + ", asked to release"
                 : "a contender that was asked to release";
  }
  constexpr std::size_t longest = 101;
  const auto guid = data.rfind(" guid=");  // of a contender that races for one node
  return cut_to_width(escape_for_terminal(short_owner(data.substr(0, guid))), longest);
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
  return fmt::format("acquired {}  token={}  node={}  waited={}", lock.name(),
                     tokens_text(status.holding, ","), short_node(status.holding.nodes.front()),
                     short_time(status.held - status.asked));
}

std::string released_line(const Lock& lock, const LockStatus& status) {
  return fmt::format("released {}  held={}", lock.name(), short_time(Clock::now() - status.held));
}

std::string stays_queued_line(const Lock& lock, const LockStatus& status) {
  try {
    if (status.error) std::rethrow_exception(status.error);
  } catch (const ZkError& error) {
    if (error.code() == code::no_auth)
      return fmt::format("{}: still in the queue until this session ends: {}", lock.name(),
                         error.what());
  } catch (const std::exception&) {
    // It was given up for another reason, such as Ctrl-C.
  }
  return {};
}

namespace {

std::string behind(const QueuePlace& place) {
  auto text = "behind " + (place.predecessor.empty() ? short_node(place.predecessor_node)
                                                     : owner_in_line(place.predecessor));
  if (place.predecessor_stays) text += ", whose node is persistent: only deleting it ends the wait";
  return text;
}

/// A note for the first in a queue, in case the holder's node is persistent.
std::string persistence(const QueuePlace& place) {
  return place.holder_stays ? "; its node is persistent: only deleting it ends that" : "";
}

/// For a semaphore: waiting behind others, or for leases.
std::string waiting_for_leases(const std::string& path, const QueuePlace& place) {
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
    line += fmt::format(" (the oldest for {}: {}{})", time_text(*place.holder_age_ms),
                        owner_in_line(place.holder), persistence(place));
  return line;
}

}  // namespace

std::string waiting_line(const std::string& path, const QueuePlace& place) {
  if (place.leases.all > 0) return waiting_for_leases(path, place);
  if (place.position == 0) {  // there is no queue, or this contender is not in it
    auto line = fmt::format("waiting {}: {}", path, behind(place));
    if (!place.holder.empty() && place.holder_age_ms)
      line += fmt::format(" (has held it for {})", time_text(*place.holder_age_ms));
    return line;
  }
  auto line = fmt::format("waiting {}: {} of {}, {}", path, ordinal(place.position), place.count,
                          behind(place));
  if (!place.holder_age_ms) return line;
  // The time in the queue; only the holder knows how much of it was waiting.
  const auto holder = fmt::format("has held it for at most {}", time_text(*place.holder_age_ms));
  if (place.position == 2) return fmt::format("{} ({})", line, holder);
  return fmt::format("{} (first: {}, {}{})", line, owner_in_line(place.holder), holder,
                     persistence(place));
}

std::string_view state_of(const LockStatus& status) {
  constexpr NamedValues<LockStatus::Stage, 9> names{{{"asking", LockStatus::Stage::Asking},
                                                     {"waits", LockStatus::Stage::Waiting},
                                                     {"holds", LockStatus::Stage::Held},
                                                     {"suspended", LockStatus::Stage::Suspended},
                                                     {"releasing", LockStatus::Stage::Releasing},
                                                     {"gone", LockStatus::Stage::Released},
                                                     {"lost", LockStatus::Stage::Lost},
                                                     {"gone", LockStatus::Stage::Stuck},
                                                     {"gone", LockStatus::Stage::Refused}}};
  return name_of(names, status.stage);
}

std::set<std::string> paths_of(const OwnLocks& locks) {
  std::set<std::string> paths;
  for (const auto& lock : locks) paths.insert(lock->paths().begin(), lock->paths().end());
  return paths;
}

std::set<std::string> occupied_nodes(const OwnLocks& locks) {
  std::set<std::string> nodes;
  for (const auto& lock : locks)
    if (const auto status = lock->status(); status.occupied)
      nodes.insert(status.holding.nodes.begin(), status.holding.nodes.end());
  return nodes;
}

std::vector<std::string> own_locks_table(const OwnLocks& locks, std::size_t columns, bool ascii) {
  if (locks.empty()) return {};
  enum Column : std::size_t { State, Kind, Since, Token, Name, Details };
  ColumnTable table({{.title = "state"},
                     {.title = "kind"},
                     {.title = "since", .right = true},
                     {.title = "token", .right = true},
                     {.title = "lock"},
                     {.title = ""}});
  const std::string mark = ascii ? "..." : "…";
  const auto node_name = [&](std::string_view whole) {
    return columns == 0 ? std::string(whole) : with_short_guids(whole, mark);
  };
  for (const auto& lock : locks) {
    const auto status = lock->status();
    const auto state = state_of(status);
    table.add_row({state == "holds"  ? "HOLDS"
                   : state == "lost" ? "LOST"
                                     : std::string(state),
                   status.kind,
                   short_age(milliseconds_since(state == "lost" ? status.ended : since(status))),
                   has_token(status) ? tokens_text(status.holding, ",") : "-",
                   escape_for_terminal(lock->name()), detail(status, node_name)});
  }
  // A contender's name with a short guid, and a path.
  constexpr std::size_t least_details = 28;
  constexpr std::size_t least_name = 12;
  table.set_elastic(Details, ColumnTable::Cut::Middle, least_details);
  table.set_elastic(Name, ColumnTable::Cut::Middle, least_name);
  table.set_elastic(Details, ColumnTable::Cut::Middle);
  for (const auto column : {Since, Kind, Token})
    if (columns > 0 && table.width(least_details) > columns) table.drop(column);
  return table.lines(columns, mark);
}

std::vector<std::string> plain_own_locks(const OwnLocks& locks) {
  return mapped(locks, [](const auto& lock) {
    const auto status = lock->status();
    return fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}", state_of(status), status.kind,
        has_token(status) ? tokens_text(status.holding, ",") : "-",
        session_text(status.holding.session), escape_for_terminal(lock->name()),
        escape_for_terminal(fmt::format("{}", fmt::join(status.holding.nodes, " "))));
  });
}

Json own_lock_json(const Lock& lock) {
  const auto status = lock.status();
  const bool waits = status.stage == LockStatus::Stage::Waiting && status.place.count > 0;
  return Json::object()
      .set("paths", Json::array(lock.paths()))
      .set("kind", status.kind)
      .set("state", state_of(status))
      .set("ageMs", milliseconds_since(since(status)))
      .set("token", token_json(status.holding.token))
      // For several locks, in the order of their paths.
      .set("tokens", Json::array(status.holding.tokens, token_json))
      .set("session", has_token(status) ? Json(session_text(status.holding.session)) : Json())
      .set("contenderNodes", Json::array(status.holding.nodes))
      .set("nested", status.nested)
      .set("askedToRelease", status.revoked)
      .set("position", waits ? Json(status.place.position) : Json())
      .set("contenderCount", waits ? Json(status.place.count) : Json())
      .set("behind", waits ? Json(status.place.predecessor) : Json())
      .set("circle", waits && status.deadlock ? deadlock_json(*status.deadlock) : Json())
      .set("reason", Json::text_or_null(status.reason));
}

}  // namespace zksh
