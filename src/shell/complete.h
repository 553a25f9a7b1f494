// Complete: what could stand in a word's place, derived from the declarations of the commands.
#pragma once

#include "command/options.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A child of a node, as far as it is known.
struct ChildNode {
  std::string name;
  bool has_children = false;
  bool is_ephemeral = false;
  bool known = true;  ///< false: nobody has said whether it is one of these
};

/// The children of a node whose names have the same beginning.
struct ChildNodes {
  std::vector<ChildNode> first;  ///< of the names in byte order; the others are only counted
  std::size_t count = 0;
  std::string common;    ///< the longest beginning that the names of all have
  bool awaited = false;  ///< something of this is still to be told
};

/// Gives a node's children whose names begin with `prefix`. Must not throw, and may block no longer
/// than its caller can wait.
using NodeSource = std::function<ChildNodes(const std::string& parent, const std::string& prefix)>;

/// Where candidates come from, beside the declarations.
struct CompletionSources {
  NodeSource nodes{};         ///< none: no node paths are offered
  std::string current = "/";  ///< the node where relative paths begin
  /// The paths of the locks that this shell has. As a NodeSource.
  std::function<std::vector<std::string>()> held_locks{};
  std::function<std::vector<std::string>()> jobs{};  ///< in the background: "%1"
};

struct Candidate {
  std::string text;   ///< the whole word
  char mark = '\0';   ///< what a list shows behind it: '*' of an ephemeral
  bool open = false;  ///< more may come behind it, so that no blank belongs there

  bool operator==(const Candidate&) const = default;
};

/// All candidates for a word, of which the first are named.
struct Candidates {
  std::vector<Candidate> first;
  std::size_t count = 0;
  std::string common;         ///< the longest beginning that all have
  bool awaited = false;       ///< as of ChildNodes
  std::size_t directory = 0;  ///< so many bytes of each text are the node or directory it is in

  Candidates() = default;
  /// In any order, each perhaps twice. One that ends in `/`, `=` or `:` is open.
  explicit Candidates(std::vector<std::string> texts);
  /// Puts the same before each of them.
  void prepend(std::string_view text);
};

/// The longest beginning of both that splits no character.
std::string_view common_beginning(std::string_view one, std::string_view other);

/// The candidates for the last of a command's words (the first is its name; the last may be empty):
/// commands and aliases, options, choices, files, node paths, locks or parts of an ACL.
Candidates complete_command(const std::vector<std::string>& words,
                            const CompletionSources& sources);

/// What to do to a line that is being typed.
struct LineCompletion {
  std::size_t begin = 0;            ///< what stands from this byte to the cursor …
  std::string text;                 ///< … is replaced by this; the same when nothing is gained
  std::vector<std::string> list{};  ///< several candidates, as they are shown, those known by name
  std::size_t count = 0;            ///< of all candidates
  bool awaited = false;             ///< as of ChildNodes
};

/// The completion of the word before the cursor, in or out of quotes. It is written so that
/// split_words reads it back as the same word, or nothing is done.
LineCompletion complete_line(std::string_view line, std::size_t cursor,
                             const CompletionSources& sources);

/// The candidates for the command line of zksh itself, in the user's own shell: `words` without the
/// program's name. `options` are zksh's own; `nodes_for` gives the nodes that a zksh with such
/// words in front of its command would see.
Candidates complete_invocation(
    const std::vector<std::string>& words, const std::vector<Argument>& options,
    const std::function<NodeSource(std::vector<std::string> given)>& nodes_for);

}  // namespace zksh
