// LockPicture: a lock's queue for programs.
#include "base/number.h"
#include "base/text.h"
#include "lock/lock_picture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zksh {
namespace {

std::string_view state_name(SeatState state) {
  switch (state) {
    case SeatState::Holds:
      return "holds";
    case SeatState::Waits:
      return "waits";
    case SeatState::Next:
      return "next";
    case SeatState::MayHold:
      break;
  }
  return "may_hold";
}

std::string_view mode_name(const LockSeat& seat) {
  const auto mode = seat_mode(seat);
  return mode == "excl" ? "exclusive" : mode;
}

Json seat_json(const LockSeat& seat, std::int64_t now) {
  auto nodes = Json::array();
  for (const auto& node : seat.contender.nodes) nodes.add(node.text);
  auto watched_by = Json::array();
  for (const auto number : seat.watched_by) watched_by.add(number);
  auto json = Json::object();
  json.set("number", seat.number)
      .set("state", state_name(seat.state))
      .set("mode", mode_name(seat))
      .set("library", family_name(seat.family))
      .set("nodes", std::move(nodes))
      .set("owner", seat.owner)
      .set("owner_length", seat.owner_length)
      .set("session", session_text(seat.session))
      .set("session_alive", seat.alive)
      .set("connected", seat.connected)
      .set("address", seat.address.empty() ? Json() : Json(seat.address))
      .set("created", seat.created)
      .set("age_ms", now - seat.created)
      .set("token", seat.token)
      .set("waits_for", seat.waits_for)
      .set("watched_by", std::move(watched_by))
      .set("other_watchers", seat.other_watchers)
      .set("asked_to_release", seat.asked_to_release);
  return json;
}

Json texts_json(const std::vector<std::string>& texts) {
  auto array = Json::array();
  for (const auto& text : texts) array.add(text);
  return array;
}

Json changes_json(const std::optional<LockChanges>& changes) {
  if (!changes) return {};
  auto json = Json::object();
  json.set("since", changes->since).set("left", changes->left);
  auto events = Json::object();
  if (changes->events)
    events.set("deleted", changes->events->deleted).set("children", changes->events->children);
  json.set("watch_events", changes->events ? std::move(events) : Json());
  return json;
}

}  // namespace

Json lock_json(const LockView& view, const PictureStyle& style) {
  auto contenders = Json::array();
  for (const auto& seat : view.seats) contenders.add(seat_json(seat, style.now));
  auto circles = Json::array();
  for (const auto& circle : view.circles) circles.add(circle_json(circle));
  auto json = Json::object();
  json.set("path", view.path)
      .set("kind", view.kind)
      .set("limit", view.limit)
      .set("counter", view.counter)
      .set("contenders", std::move(contenders))
      .set("no_contenders", texts_json(view.others))
      .set("warnings", texts_json(view.flaws))
      .set("circles", std::move(circles))
      .set("watchers", view.measured ? "measured" : "inferred")
      .set("server_watches", view.account.watches)
      .set("time", style.now)
      .set("changes", changes_json(style.changes));
  return json;
}

std::vector<std::string> plain_lock(const LockView& view) {
  std::vector<std::string> lines;
  lines.reserve(view.seats.size());
  for (const auto& seat : view.seats) {
    const auto owner = seat.owner ? escape_for_terminal(*seat.owner) : std::string("-");
    lines.push_back(fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", seat.number, state_name(seat.state),
        mode_name(seat), family_name(seat.family), session_text(seat.session),
        seat.address.empty() ? "-" : escape_for_terminal(seat.address), seat.created, seat.token,
        seat.waits_for ? std::to_string(*seat.waits_for) : "-",
        seat.watched_by.empty() ? "-" : fmt::format("{}", fmt::join(seat.watched_by, ",")),
        escape_for_terminal(seat.contender.nodes.front().text), owner));
  }
  return lines;
}

}  // namespace zksh
