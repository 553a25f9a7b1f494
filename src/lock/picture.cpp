// LockPicture: formats a lock's queue: a table, and chains of who waits for whom.
#include "lock/picture.h"

#include "base/column_table.h"
#include "base/mapped.h"
#include "base/named_values.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "lock/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace zksh {
namespace {

// Owner data may be long; this limits them if the width is unlimited.
constexpr std::size_t widest_owner = 120;
// The titles, the first contender, and the number of others.
constexpr std::size_t least_rows = 3;

const char* dots(const PictureStyle& style) { return style.ascii ? "..." : "…"; }

using StateNames = NamedValues<SeatState, 4>;
constexpr StateNames names_for_programs{{{"holds", SeatState::Holds},
                                         {"waits", SeatState::Waits},
                                         {"next", SeatState::Next},
                                         {"mayHold", SeatState::MayHold}}};
/// Holders stand out.
constexpr StateNames names_for_people{{{"HOLDS", SeatState::Holds},
                                       {"waits", SeatState::Waits},
                                       {"next", SeatState::Next},
                                       {"HOLDS?", SeatState::MayHold}}};

template <class T>
std::span<const T> first(const std::vector<T>& items, std::size_t most) {
  return std::span(items).first(std::min(items.size(), most));
}

std::string owner_text(const Seat& seat) {
  if (seat.asked_to_release)
    return "(asked to release) " + (seat.owner ? escape_for_terminal(short_owner(seat.owner)) : "");
  if (!seat.readable) return "(not readable)";
  if (seat.owner && seat.owner->empty()) return "-";
  return escape_for_terminal(short_owner(seat.owner));
}

std::string address_text(const Seat& seat, bool with_port) {
  if (seat.address.empty()) return seat.connected == false ? "(none)" : "-";
  return escape_for_terminal(with_port ? seat.address
                                       : seat.address.substr(0, seat.address.rfind(':')));
}

/// Whether it may watch the list of children: servers do not report such watches.
bool may_watch_list(const Seat& seat) {
  return seat.watches_no_node() && seat.session != 0 && seat.alive != false;
}

std::string behind_text(const Seat& seat) {
  if (const auto before = seat.behind())
    return fmt::format("#{}{}", *before, seat.watch_unknown ? "?" : "");
  if (seat.watches_no_node() && !may_watch_list(seat)) return "-";
  if (seat.state == SeatState::Next) return "a lease";
  return seat.state == SeatState::Waits ? "list?" : "-";
}

std::string watched_by_text(const Seat& seat) {
  constexpr std::size_t shown = 3;
  std::string text;
  if (!seat.watched_by.empty())
    text = fmt::format("#{}", fmt::join(first(seat.watched_by, shown), " #"));
  if (seat.watched_by.size() > shown) text += fmt::format(" +{}", seat.watched_by.size() - shown);
  if (seat.other_watchers > 0)
    text += (text.empty() ? "" : ", ") + counted(seat.other_watchers, "other");
  return text.empty() ? "-" : text;
}

/// Adds the text, broken between words; further lines are indented.
void add_text(const std::string& text, std::size_t columns, std::vector<std::string>& lines) {
  constexpr std::size_t indent = 2;
  const auto broken =
      wrapped(text, columns == 0 ? text.size() : std::max(columns, 2 * indent) - indent);
  std::string margin;
  for (const auto line : lines_of(broken)) {
    lines.push_back(margin + std::string(line));
    margin.assign(indent, ' ');
  }
}

std::vector<std::string> header(const LockView& view, const PictureStyle& style) {
  std::vector<std::string> items{escape_for_terminal(view.path)};
  const auto holders = static_cast<std::size_t>(std::ranges::count(view.seats, true, &Seat::lease));
  if (view.kind == "semaphore") {
    items.push_back(view.limit ? fmt::format("semaphore of {}", *view.limit) : "semaphore");
    items.push_back(counted(leases_taken(view), "lease") + " held");
    items.push_back(fmt::format("{} in the queue", view.seats.size() - holders));
  } else {
    items.push_back(view.kind);
    if (view.kind != "missing") items.push_back(counted(view.seats.size(), "contender"));
  }
  std::vector<std::string> lines;
  add_text(fmt::format("{}", fmt::join(items, "  ")), style.columns, lines);
  return lines;
}

/// The last digits of the sessions' ids, as many as distinguish them.
std::vector<std::string> short_sessions(const LockView& view, const PictureStyle& style) {
  std::set<std::int64_t> sessions;
  for (const auto& seat : view.seats) sessions.insert(seat.session);
  const auto tell_apart = [&](std::size_t digits) {
    std::set<std::string> ends;
    for (const auto session : sessions) {
      const auto text = session_text(session);
      ends.insert(text.substr(text.size() - std::min(text.size(), digits)));
    }
    return ends.size() == sessions.size();
  };
  std::size_t digits = 4;
  while (digits < 16 && !tell_apart(digits)) ++digits;
  return mapped(view.seats, [&](const Seat& seat) {
    const auto text = session_text(seat.session);
    return text.size() <= digits + 2 ? text : dots(style) + text.substr(text.size() - digits);
  });
}

class SeatTable {
 public:
  SeatTable(const LockView& view, const PictureStyle& style) : view_(view), style_(style) {
    add("#", true, [](const Seat& seat) { return std::to_string(seat.number); });
    add("state", false,
        [](const Seat& seat) { return std::string(name_of(names_for_people, seat.state)); });
    mode_ = add("mode", false, [](const Seat& seat) { return std::string(seat_mode(seat)); });
    owner_ = add("owner", false, owner_text);
    address_ = add("address", false, [](const Seat& seat) { return address_text(seat, true); });
    session_ = add("session", false, [](const Seat& seat) { return session_text(seat.session); });
    age_ = add("age", true, [&](const Seat& seat) {
      return seat.created == 0 ? "-" : short_age(style.now - seat.created);
    });
    token_ = add("token", true, [](const Seat& seat) { return std::to_string(seat.token); });
    add("behind", false, behind_text);
    watched_ = add(view.measured ? "watched by" : "should watch it", false, watched_by_text);
    table_.set_elastic(owner_);
    const bool no_addresses =
        std::ranges::all_of(view.seats, [](const Seat& seat) { return !seat.connected; });
    if (no_addresses) table_.drop(address_);
  }

  std::vector<std::string> lines() {
    if (style_.columns == 0) return table_.lines(table_.width(widest_owner), dots(style_));
    make_fit();
    return table_.lines(style_.columns, dots(style_));
  }

 private:
  template <class Text>
  std::size_t add(const char* title, bool right, Text&& text) {
    return table_.add(title, right, view_.seats, std::forward<Text>(text));
  }

  bool fits(std::size_t owner) const { return table_.width(owner) <= style_.columns; }

  /// Drops the least important columns until the owner has enough room.
  void make_fit() {
    if (fits(28)) return;
    table_.replace_cells(session_, short_sessions(view_, style_));
    // Without other watchers, it repeats the column before.
    const bool others =
        std::ranges::any_of(view_.seats, [](const Seat& seat) { return seat.other_watchers > 0; });
    if (!fits(28) && !others) table_.drop(watched_);
    if (fits(20)) return;
    table_.replace_cells(
        address_, mapped(view_.seats, [](const Seat& seat) { return address_text(seat, false); }));
    if (fits(14)) return;
    for (const auto column : {address_, session_, token_, mode_}) {
      table_.drop(column);
      if (fits(14)) return;
    }
    for (const auto column : {watched_, age_}) {
      if (fits(8)) return;
      table_.drop(column);
    }
  }

  const LockView& view_;
  const PictureStyle& style_;
  ColumnTable table_;
  std::size_t mode_, owner_, address_, session_, age_, token_,
      watched_;  ///< columns
};

std::string changes_text(const LockView::Changes& changes, std::int64_t now) {
  auto text = fmt::format(
      "{} to {}: {} left the queue", time_of_day(changes.since), time_of_day(now),
      changes.left == 1 ? "1 contender has" : fmt::format("{} contenders have", changes.left));
  if (changes.events)
    text += fmt::format("; watch events: {} by deletions, {} by lists",
                        std::max<std::int64_t>(0, changes.events->deleted),
                        std::max<std::int64_t>(0, changes.events->children));
  return text;
}

/// "kazoo #3 #5, go-zookeeper #4": the libraries that use such names; others may use them, too.
std::string foreign_text(const LockView& view) {
  std::map<std::string_view, std::vector<std::string>> by_library;
  for (const auto& seat : view.seats)
    if (seat.made_by != Library::Zksh)
      by_library[library_name(seat.made_by)].push_back(fmt::format("#{}", seat.number));
  std::vector<std::string> texts;
  texts.reserve(by_library.size());
  constexpr std::size_t shown = 8;
  for (auto& [library, seats] : by_library) {
    const auto more = seats.size() > shown ? fmt::format(" +{}", seats.size() - shown) : "";
    if (seats.size() > shown) seats.resize(shown);
    texts.push_back(fmt::format("{} {}{}", library, fmt::join(seats, " "), more));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string others_text(const std::vector<std::string>& others) {
  constexpr std::size_t shown = 5;
  std::string text;
  for (const auto& name : first(others, shown))
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", escape_for_terminal(name));
  if (others.size() > shown) text += fmt::format(" and {} more", others.size() - shown);
  return text;
}

/// "in 23s", for a time of day by the servers' clock, whatever their time zone: zones differ by
/// multiples of a quarter of an hour. Empty if it is more than ten minutes away.
std::string time_until(std::string_view time, std::int64_t now) {
  constexpr std::int64_t quarter = 900;
  constexpr std::int64_t longest = 600;
  std::int64_t seconds = 0;
  for (const auto part : split(time.substr(0, time.find(' ')), ':'))
    seconds = seconds * 60 + number_in<std::int64_t>(part).value_or(0);
  const auto left = ((seconds - now / 1000) % quarter + quarter) % quarter;
  return left > longest ? "" : "in " + short_age(left * 1000);
}

/// When the sessions of clients that are gone expire, and free what they hold.
std::vector<std::string> expiries(const LockView& view, const PictureStyle& style) {
  std::vector<std::string> lines;
  for (const auto& seat : view.seats) {
    if (seat.connected != false || seat.alive != true || seat.expires.empty()) continue;
    const auto left = time_until(seat.expires, style.now);
    add_text(fmt::format("#{}: its client is gone; its session expires {}", seat.number,
                         left.empty() ? "at " + seat.expires
                                      : fmt::format("{} (at {})", left, seat.expires)),
             style.columns, lines);
  }
  return lines;
}

std::vector<std::string> notes(const LockView& view, const PictureStyle& style) {
  std::vector<std::string> lines;
  if (view.changes) add_text(changes_text(*view.changes, style.now), style.columns, lines);
  if (const auto foreign = foreign_text(view); !foreign.empty())
    add_text("not zksh's, by their names: " + foreign, style.columns, lines);
  if (std::ranges::any_of(view.seats, may_watch_list))
    add_text(
        "list?: watches no contender's node; it may watch the list of contenders, which servers do "
        "not report: then each change wakes it",
        style.columns, lines);
  if (std::ranges::any_of(view.seats, &Seat::watch_unknown))
    add_text("?: should watch it; the servers that were asked do not report whether it does",
             style.columns, lines);
  if (!view.others.empty())
    add_text("no contenders: " + others_text(view.others), style.columns, lines);
  std::ranges::move(expiries(view, style), std::back_inserter(lines));
  for (const auto& deadlock : view.deadlocks)
    add_text(deadlock_text(deadlock), style.columns, lines);
  for (auto flaw : view.flaws) {
    constexpr std::string_view ellipsis = "…";
    for (auto at = flaw.find(ellipsis); style.ascii && at != std::string::npos;
         at = flaw.find(ellipsis))
      flaw.replace(at, ellipsis.size(), "...");
    add_text("warning: " + escape_for_terminal(flaw), style.columns, lines);
  }
  return lines;
}

/// Shortens a table; its last line says how many are missing.
void leave_out(std::vector<std::string>& rows, std::size_t lines, const PictureStyle& style) {
  if (rows.size() <= lines) return;
  const auto more = rows.size() - (lines - 1);
  rows.resize(lines - 1);
  rows.push_back(fmt::format("{} {} more", dots(style), more));
}

}  // namespace

std::vector<std::string> lock_picture(const LockView& view, const PictureStyle& style) {
  auto lines = header(view, style);
  auto below = lock_chains(view, style);
  std::ranges::move(notes(view, style), std::back_inserter(below));
  std::vector<std::string> rows;
  if (!view.seats.empty()) rows = SeatTable(view, style).lines();
  if (style.lines > 0 && lines.size() + rows.size() + below.size() > style.lines) {
    // Contenders get at least half of the lines.
    const auto room = style.lines - std::min(style.lines, lines.size());
    const auto rows_room = std::max(room - std::min(room, below.size()), room / 2);
    leave_out(rows, std::max<std::size_t>(rows_room, least_rows), style);
  }
  std::ranges::move(rows, std::back_inserter(lines));
  std::ranges::move(below, std::back_inserter(lines));
  if (style.lines > 0 && lines.size() > style.lines) lines.resize(style.lines);
  if (style.columns > 0 && style.lines > 0)
    for (auto& line : lines) line = cut_to_width(line, style.columns, dots(style));
  return lines;
}

namespace {

/// Seat numbers; each in a stage waits for one in the stage before.
using Stage = std::vector<std::size_t>;

std::string stage_text(const Stage& stage, const PictureStyle& style) {
  constexpr std::size_t shown = 4;
  if (stage.size() == 1) return fmt::format("#{}", stage.front());
  if (stage.size() > shown)
    return fmt::format("{{#{} {} #{}}}", stage.front(), dots(style), stage.back());
  return fmt::format("{{#{}}}", fmt::join(stage, " #"));
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

/// Cuts the middle of a chain that is too long: its ends matter most.
std::string chain_text(const std::vector<Stage>& stages, const PictureStyle& style) {
  const std::string arrow = style.ascii ? " <- " : " ◄ ";
  const std::string gap = arrow + dots(style) + arrow;
  const std::size_t columns = style.columns == 0 ? 100 : style.columns;
  const auto texts = mapped(stages, [&](const Stage& stage) { return stage_text(stage, style); });
  auto text = fmt::format("{}", fmt::join(texts, arrow));
  if (text_width(text) <= columns) return text;
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
  Stage herd;
  std::vector<Stage> alone;
  for (const auto& seat : view.seats) {
    if (const auto before = seat.behind())
      waiting[*before].push_back(seat.number);
    else if (seat.state == SeatState::Holds)
      holders.push_back(seat.number);
    else if (seat.state == SeatState::Next)
      next.push_back(seat.number);
    else if (may_watch_list(seat))
      herd.push_back(seat.number);
    else
      alone.push_back({seat.number});
  }
  // A contender that watches the list waits for the holder.
  if (!herd.empty() && !holders.empty()) {
    auto& behind = waiting[holders.back()];
    behind.insert(behind.end(), herd.begin(), herd.end());
  } else {
    for (const auto number : herd) alone.push_back({number});
  }
  // A contender that waits for any lease may be shown after the last one.
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

namespace {

std::string_view mode_name(const Seat& seat) {
  const auto mode = seat_mode(seat);
  return mode == "excl" ? "exclusive" : mode;
}

Json seat_json(const Seat& seat, std::int64_t now) {
  return Json::object()
      .set("number", seat.number)
      .set("state", name_of(names_for_programs, seat.state))
      .set("mode", mode_name(seat))
      .set("library", library_name(seat.made_by))
      .set("contenderNodes", Json::array(seat.contender.nodes, &LockName::text))
      .set("owner", seat.owner)
      .set("ownerLength", seat.owner_length)
      .set("session", session_text(seat.session))
      .set("sessionAlive", seat.alive)
      .set("connected", seat.connected)
      .set("client", Json::text_or_null(seat.address))
      .set_time("ctime", seat.created)
      .set("ageMs", seat.created == 0 ? std::nullopt : std::optional(now - seat.created))
      .set("token", token_json(seat.token))
      .set("waitsFor", seat.waits_for)
      .set("watchedBy", Json::array(seat.watched_by))
      .set("otherWatchers", seat.other_watchers)
      .set("askedToRelease", seat.asked_to_release);
}

Json changes_json(const std::optional<LockView::Changes>& changes) {
  if (!changes) return {};
  Json events;
  if (changes->events)
    events = Json::object()
                 .set("deleted", changes->events->deleted)
                 .set("childrenChanged", changes->events->children);
  return Json::object()
      .set_time("since", changes->since)
      .set("left", changes->left)
      .set("watchEvents", std::move(events));
}

}  // namespace

Json lock_json(const LockView& view, const PictureStyle& style) {
  return Json::object()
      .set("path", view.path)
      .set("kind", view.kind)
      .set("limit", view.limit)
      .set("counter", view.counter)
      .set("contenders",
           Json::array(view.seats, [&](const Seat& seat) { return seat_json(seat, style.now); }))
      .set("otherNodes", Json::array(view.others))
      .set("warnings", Json::array(view.flaws))
      .set("circles", Json::array(view.deadlocks, deadlock_json))
      .set("watcherSource", view.measured ? "measured" : "inferred")
      .set("serverWatches", view.account.watches)
      .set_time("time", style.now)
      .set("changes", changes_json(view.changes));
}

std::vector<std::string> plain_lock(const LockView& view) {
  return mapped(view.seats, [](const Seat& seat) {
    const auto owner = seat.owner ? escape_for_terminal(*seat.owner) : std::string("-");
    return fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", seat.number,
        name_of(names_for_programs, seat.state), mode_name(seat), library_name(seat.made_by),
        session_text(seat.session), seat.address.empty() ? "-" : escape_for_terminal(seat.address),
        seat.created, seat.token, seat.waits_for ? std::to_string(*seat.waits_for) : "-",
        seat.watched_by.empty() ? "-" : fmt::format("{}", fmt::join(seat.watched_by, ",")),
        escape_for_terminal(seat.contender.nodes.front().text), owner);
  });
}

}  // namespace zksh
