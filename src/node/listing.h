// Listing: reads the nodes that a command names, and prints nodes, values and Stats.
#pragma once

#include "base/json.h"
#include "client/client.h"
#include "node/node_failures.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// A positional form of version 3.4, and its replacement.
struct DeprecatedForm {
  std::string_view old_form;
  std::string_view new_form;
};
/// The nodes given to a command, and the last word of a positional form of version 3.4.
struct NodeWords {
  std::vector<std::string> paths;  ///< resolved
  std::optional<std::string> legacy{};
};
/// Interprets the words of a command that takes several nodes, where zkCli 3.4 took a node and a
/// word. On piped input the second word is always that word, and the rest is ignored, as in zkCli.
/// Elsewhere the second of two words is, if `is_legacy` says so. Prints the notice about the form,
/// before the node is accessed, unless `forms` is null.
NodeWords node_words(Context& cx, const std::vector<std::string>& words,
                     const std::function<bool(const std::string&)>& is_legacy,
                     const DeprecatedForm* forms);
/// Whether a word used to mean "set a watch": watch, true or 1.
bool is_watch_word(const std::string& word);
/// Whether results are printed bare, for a program or a file: in plain output, or if the line
/// redirects them and chooses no format.
bool is_bare(const Context& cx);
/// Sends a read of one node, `start(path)`, once there is a connection. The second half, which may
/// call `start` again (Client::insist), calls `print(path, answer)`.
template <class Start, class Print>
Sent start_read(Context& cx, const std::string& path, Start start, Print print) {
  cx.client.await_connection(path, cx.stop);
  const auto pending = start(path);
  return {path, pending, [&cx, path, pending, start, print] {
            print(path, cx.client.answer_of(
                            pending, path, [&] { return start(path); }, cx.stop));
            return status::ok;
          }};
}
/// Prints a node's path with a colon above what is printed of it, and a blank line before all but
/// the first.
void print_heading(Context& cx, const std::string& path, bool& first);
/// The same for any number of nodes; with several, each is answered before the next is asked, and
/// has a heading unless is_bare or in JSON. Reports nodes that cannot be read, and goes on; returns
/// as each_node.
template <class Start, class Print>
Sent read_each(Context& cx, const std::vector<std::string>& paths, Start start, Print print) {
  if (paths.size() == 1) return start_read(cx, paths.front(), start, print);
  bool first = true;
  const auto print_below = [&](const std::string& path, auto answer) {
    if (!is_bare(cx) && !cx.out.json()) print_heading(cx, path, first);
    print(path, std::move(answer));
  };
  return each_node(cx, paths, [&](const std::string& path) {
    return start_read(cx, path, start, print_below).finish();
  });
}

/// Prints a node's children, sorted: `[a, b]`, or one per line in plain output; optionally with the
/// node's path before each, if results are bare, and with the Stat below. If no format was
/// chosen: on a terminal in columns, with a slash after nodes that have children and a * after
/// ephemerals; elsewhere one per line if results are bare, and in scripts.
struct ListingForm {
  bool with_stat = false;
  bool with_paths = false;
  bool human = false;  ///< for the Stat
};
void print_children(Context& cx, const std::string& path, Children children, ListingForm form);
/// `human`: adds ages and other derived values; asks the servers who owns an ephemeral, and blocks
/// as ServerPoller::ask.
void print_stat(Context& cx, const Stat& stat, bool human = false);
/// Prints a result as print_result does, and with `with_stat` a Stat below, or in the object.
void print_with_stat(Context& cx, Json json, std::string_view line, bool with_stat,
                     const Stat& stat);

/// Notes for some of the fields; empty: no note.
struct StatNotes {
  std::string ctime{};
  std::string mtime{};
  std::string ephemeral_owner{};
  std::string data_length{};
};

/// The eleven lines "cZxid = 0x2" to "numChildren = 0", each with its newline; a note follows its
/// field in parentheses. Dates are as Java prints them, in this process's time zone.
std::string stat_lines(const Stat& stat, const StatNotes& notes = {});

/// Notes for people: how long ago the times are at `now` (milliseconds since 1970), a long length
/// in KiB or MiB, and `owner`, a description of an ephemeral's session.
StatNotes human_notes(const Stat& stat, std::int64_t now, const std::string& owner);

/// "3d02h ago", "41s ago", "in 2m00s": a short_age and its direction.
std::string age_text(std::int64_t then, std::int64_t now);

}  // namespace zksh
