// Complete: completes words, using the commands' declarations.
#pragma once

#include "command/invocation.h"
#include "command/options.h"
#include "term/line_editor.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct Candidate {
  std::string text;   ///< the whole word
  char mark = '\0';   ///< shown after it in lists: '*' for an ephemeral
  bool open = false;  ///< the word may continue, so no blank follows
  /// For an option's name: what the option does; the same for all of its names.
  std::string meaning{};

  bool operator==(const Candidate&) const = default;
};

/// The candidates for a word.
struct Candidates {
  std::vector<Candidate> first;  ///< only these are listed
  std::size_t count = 0;
  std::string common;         ///< the longest common prefix of all
  bool awaited = false;       ///< more will be known soon
  std::size_t directory = 0;  ///< length of the part of each text that names its parent

  Candidates() = default;
  /// `texts` may be unsorted and have duplicates. A candidate that ends in `/`, `=` or `:` is open.
  explicit Candidates(std::vector<std::string> texts);
  /// Prepends a text to each candidate.
  void prepend(std::string_view text);
};

/// Returns a node's children whose names begin with `prefix`, in byte order: their names, with a
/// slash after those that have children; `common` is that of the bare names. Must not throw, nor
/// block longer than its caller can wait.
using NodeSource = std::function<Candidates(const std::string& parent, const std::string& prefix)>;

/// Returns the identities in a node's ACL as scheme:id, those of digests without the hash; under
/// the conditions of NodeSource.
using AclSource = std::function<Candidates(const std::string& path)>;

/// Sources of candidates besides the declarations.
struct CompletionSources {
  NodeSource nodes{};  ///< empty: no node paths
  AclSource acls{};
  /// Returns a node's value, if that can be typed; under the conditions of NodeSource.
  std::function<Candidates(const std::string& path)> values{};
  std::string current = "/";  ///< the node that relative paths start from
  /// Returns the paths of this shell's locks, under the conditions of NodeSource.
  std::function<std::vector<std::string>()> held_locks{};
  std::function<std::vector<std::string>()> jobs{};  ///< background jobs: "%1"
};

/// The longest common prefix that does not split a character.
std::string_view common_beginning(std::string_view one, std::string_view other);

/// The candidates for the last of a command's words, which may be empty, and is its name if there
/// are no arguments: commands and aliases, options, choices, files, node paths, locks or parts of
/// an ACL.
Candidates complete_command(const Invocation& line, const CompletionSources& sources);

/// Completes the word before the cursor, quoted or not, so that split_words reads it back as the
/// same word; if that is impossible, changes nothing.
Completion complete_line(std::string_view line, std::size_t cursor,
                         const CompletionSources& sources);

/// The candidates for zksh's own command line in the user's shell. `words` does not include the
/// program's name. `options` are zksh's own; `nodes_for` returns the nodes that a zksh with the
/// given words before its command would see.
Candidates complete_invocation(
    const std::vector<std::string>& words, const std::vector<Argument>& options,
    const std::function<NodeSource(std::vector<std::string> given)>& nodes_for);

}  // namespace zksh
