// Listing: a command for each of several nodes, and how nodes, values and Stats are listed.
#pragma once

#include "client/missing_chroot.h"
#include "command/command.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Of several nodes those that failed: each is told at once on stderr, as cat and ls tell it.
class NodeFailures {
 public:
  /// `cx` outlives it.
  explicit NodeFailures(Context& cx) : cx_(cx) {}

  /// Runs what one of the nodes wants; what the servers refuse of that node alone is told. Throws
  /// all other errors: where the session is gone no node would fare better.
  template <class F>
  void during(F&& work) {
    try {
      std::forward<F>(work)();
    } catch (const ZkError& error) {
      if (!is_about_one_node(error.code())) throw;
      tell(error);
    }
  }
  void tell(const ZkError& error);
  void note(int result) {
    if (first_ == status::ok) first_ = result;
  }
  /// The status of the first failure; `otherwise` when there was none.
  int first(int otherwise = status::ok) const { return first_ == status::ok ? otherwise : first_; }

 private:
  static bool is_about_one_node(int code);

  Context& cx_;
  MissingChroot missing_chroot_;
  int first_ = status::ok;
};

/// Calls `work` for each node, in order; what fails of one is told, and the others go on. Returns
/// the status of the first failure, or the first that `work` returned and is not ok. Throws what is
/// not about one node.
int each_node(Context& cx, const std::vector<std::string>& paths,
              const std::function<int(const std::string& path)>& work);

/// zkCli's notice about a positional form of version 3.4, on stderr.
void tell_deprecated(Context& cx, std::string_view old_form, std::string_view new_form);
/// A positional form of version 3.4, and what to write instead.
struct DeprecatedForm {
  std::string_view old_form;
  std::string_view new_form;
};
/// The nodes that a command was given, and the last word of a positional form of version 3.4.
struct NodeWords {
  std::vector<std::string> paths;  ///< resolved
  std::optional<std::string> legacy{};
};
/// Of a command that takes several nodes where zkCli 3.4 took a node and a word. On piped input the
/// second word is always that word, and what follows is ignored, as zkCli does it; elsewhere the
/// second of two is, when `is_legacy` says so.
/// Tells of a positional form of version 3.4, before the node is looked at, unless `forms` is null.
NodeWords node_words(Context& cx, const std::vector<std::string>& words,
                     const std::function<bool(const std::string&)>& is_legacy,
                     const DeprecatedForm* forms);
/// Whether a word is what people wrote for "set a watch": watch, true or 1.
bool means_watch(const std::string& word);
/// Whether results go bare to a program or a file: in plain output, or where the line names one and
/// no form was asked for.
bool is_bare(const Context& cx);
/// Whether names are to be printed one a line: where results go bare, and in the lines of a script.
bool is_a_line_each(const Context& cx);
/// The headings between what is printed of several nodes: in zkCli's format each has its path and a
/// colon above it, and a blank line is between them.
class Headings {
 public:
  Headings(Context& cx, bool wanted) : cx_(cx), wanted_(wanted && !cx.out.json()) {}
  void print(const std::string& path);

 private:
  Context& cx_;
  bool wanted_;
  bool first_ = true;
};
/// For each node `print(path, read(path))`, under headings unless `bare`. One that cannot be read
/// is told, and the others go on; returns as each_node.
template <class Read, class Print>
int print_each(Context& cx, const std::vector<std::string>& paths, Read read, Print print,
               bool bare) {
  Headings headings(cx, paths.size() > 1 && !bare);
  return each_node(cx, paths, [&](const std::string& path) {
    const auto value = read(path);
    headings.print(path);
    print(path, value);
    return status::ok;
  });
}
template <class Read, class Print>
int print_each(Context& cx, const std::vector<std::string>& paths, Read read, Print print) {
  return print_each(cx, paths, read, print, is_bare(cx));
}

/// The children of a node, sorted: `[a, b]`, or one a line in plain output, with the node's path
/// before each if wanted; the Stat below if wanted. Where no form was asked for: on a terminal in
/// columns, with a slash behind a node that has children and a * behind an ephemeral; elsewhere as
/// is_a_line_each says.
struct ListingForm {
  bool with_stat = false;
  bool with_paths = false;
  bool human = false;  ///< of the Stat
};
void print_children(Context& cx, const std::string& path, Children children, ListingForm form);
/// The same of one node, in halves.
Sent start_children(Context& cx, const std::string& path, const Watch& watch, ListingForm form);
/// `human`: with ages and what else people would have to work out; may ask the servers who the
/// owner of an ephemeral is, for a third of a second.
void print_stat(Context& cx, const Stat& stat, bool human = false);

}  // namespace zksh
