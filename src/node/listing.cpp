// Listing: reads the nodes that a command names, and prints nodes, values and Stats.
#include "node/listing.h"

#include "base/column_table.h"
#include "base/java.h"
#include "base/number.h"
#include "base/time.h"
#include "client/persistent_watches.h"
#include "command/screen.h"
#include "command/zkcli_style.h"
#include "config/settings.h"
#include "ensemble/server_poller.h"
#include "node/node_json.h"

#include <fmt/core.h>

namespace zksh {
namespace {

/// Marks the names as Tab does. Reads all nodes at once, but no more than a person would read.
std::vector<std::string> marked_names(Context& cx, const std::string& path, const NameList& names) {
  constexpr std::size_t most_asked = 500;
  std::vector<Pending<Stat>> answers;
  if (names.size() <= most_asked)
    for (std::size_t i = 0; i < names.size(); ++i)
      answers.push_back(cx.client.start_exists(join_path(path, names[i]), Watch::none()));
  std::vector<std::string> marked;
  for (std::size_t i = 0; i < names.size(); ++i) {
    marked.push_back(cx.out.shown(names[i]));
    if (answers.empty()) continue;
    const auto [code, stat, culprit] = cx.client.await(answers[i], cx.stop);
    if (code != code::ok) continue;  // the node is gone
    if (stat.ephemeral_owner != 0)
      marked.back() += '*';
    else if (stat.num_children > 0)
      marked.back() += '/';
  }
  return marked;
}

/// What is known about the session that owns an ephemeral.
std::string owner_of(Context& cx, const Stat& stat) {
  if (stat.ephemeral_owner == 0) return "";
  if (stat.ephemeral_owner == cx.client.session_id()) return "this session";
  const auto account =
      ServerPoller(cx.client.server(), cx.services.settings.value("admin-server"), cx.stop)
          .ask({.sessions = true}, cx.client.round_trip());
  const auto address = account.addresses.find(stat.ephemeral_owner);
  if (address != account.addresses.end()) return "client " + cx.out.shown(address->second);
  if (!account.sessions) return "";
  return account.sessions->contains(stat.ephemeral_owner) ? "a client that is disconnected"
                                                          : "a session that has ended";
}

std::string noted(const std::string& note) {
  return note.empty() ? "" : fmt::format(" ({})", note);
}

}  // namespace

void print_heading(Context& cx, const std::string& path, bool& first) {
  cx.out.line("{}{}:", std::exchange(first, false) ? "" : "\n", cx.out.shown(path));
}

NodeWords node_words(Context& cx, const std::vector<std::string>& words,
                     const std::function<bool(const std::string&)>& is_legacy,
                     const DeprecatedForm* forms) {
  const bool piped = cx.input == Input::Pipe;
  if (words.size() < 2 || (!piped && (words.size() > 2 || !is_legacy(words[1]))))
    return {.paths = cx.resolve_all(words)};
  if (forms && !prints_as_34(cx))
    cx.out.err_line("'{}' has been deprecated. Please use '{}' instead.", forms->old_form,
                    forms->new_form);
  return {.paths = cx.resolve_all({words.front()}), .legacy = words[1]};
}

bool is_watch_word(const std::string& word) {
  return word == "watch" || word == "true" || word == "1";
}

bool is_bare(const Context& cx) {
  const auto& style = cx.out.style();
  return cx.out.plain() || (style.for_people && !style.out_is_terminal && cx.out.redirected());
}

void print_children(Context& cx, const std::string& path, Children children, ListingForm form) {
  auto& names = children.names;
  if (!prints_as_34(cx)) names.sort(cx.stop);
  if (cx.out.json()) {
    auto json = json_line(cx, path);
    json.set_texts("children", names.size(), [&](std::size_t place) { return names[place]; });
    if (form.with_stat) json.set("stat", stat_json(children.stat));
    return json.end();
  }
  const auto& style = cx.out.style();
  const bool lines =
      is_bare(cx) || (style.for_people && !style.out_is_terminal && cx.input == Input::Text);
  const bool paths = form.with_paths && is_bare(cx);  // else they are in the headings
  const bool columns =
      !lines && style.for_people && style.out_is_terminal && cx.input != Input::Pipe;
  if (columns && !names.empty()) {
    const auto marked = marked_names(cx, path, names);
    cx.out.out(in_text_columns(marked, marked.size(), terminal_size().columns,
                               use_color(cx) ? color::of_marked_name : nullptr));
  } else {
    constexpr std::size_t enough = 1U << 20U;
    std::string text = lines ? "" : "[";
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!lines && i > 0) text += ", ";
      const auto name = names[i];
      text += cx.out.shown(paths ? join_path(path, name) : name);
      if (lines) text += '\n';
      if (text.size() >= enough) cx.out.out(std::exchange(text, {}));
    }
    cx.out.out(lines ? text : text + "]\n");
  }
  if (form.with_stat) print_stat(cx, children.stat, form.human);
}

void print_stat(Context& cx, const Stat& stat, bool human) {
  // The server sends the event of a write before its answer.
  cx.services.watches.settle(event_patience(cx.input), cx.stop);
  const auto text = stat_lines(
      stat, human ? human_notes(stat, wall_clock_now(), owner_of(cx, stat)) : StatNotes());
  if (prints_as_34(cx))
    cx.out.err(text);
  else
    cx.out.out(text);
}

void print_with_stat(Context& cx, Json json, std::string_view line, bool with_stat,
                     const Stat& stat) {
  if (with_stat) json.set("stat", stat_json(stat));
  print_result(cx, json, line);
  if (with_stat && !cx.out.json()) print_stat(cx, stat);
}

std::string stat_lines(const Stat& stat, const StatNotes& notes) {
  return fmt::format(
      "cZxid = {}\n"
      "ctime = {}{}\n"
      "mZxid = {}\n"
      "mtime = {}{}\n"
      "pZxid = {}\n"
      "cversion = {}\n"
      "dataVersion = {}\n"
      "aclVersion = {}\n"
      "ephemeralOwner = {}{}\n"
      "dataLength = {}{}\n"
      "numChildren = {}\n",
      zxid_text(stat.czxid), java_date(stat.ctime), noted(notes.ctime), zxid_text(stat.mzxid),
      java_date(stat.mtime), noted(notes.mtime), zxid_text(stat.pzxid), stat.cversion, stat.version,
      stat.aversion, zxid_text(stat.ephemeral_owner), noted(notes.ephemeral_owner),
      stat.data_length, noted(notes.data_length), stat.num_children);
}

StatNotes human_notes(const Stat& stat, std::int64_t now, const std::string& owner) {
  constexpr std::int32_t kibi = 1024;
  return {.ctime = age_text(stat.ctime, now),
          .mtime = age_text(stat.mtime, now),
          .ephemeral_owner = stat.ephemeral_owner == 0 ? "not ephemeral" : owner,
          .data_length = stat.data_length < kibi ? "" : size_text(stat.data_length)};
}

std::string age_text(std::int64_t then, std::int64_t now) {
  return then <= now ? short_age(now - then) + " ago" : "in " + short_age(then - now);
}

}  // namespace zksh
