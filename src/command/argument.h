// Argument: the description of one argument of a command.
#pragma once

#include "base/error.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Too few words, or words that do not fit the syntax; the user is shown the usage line.
class SyntaxError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A declared argument.
struct Argument {
  enum class Kind {
    Flag,
    Number,
    Text,
    Choice,
    NodePath,
    NodePaths,  ///< all remaining positional words
    HeldLocks,  ///< likewise
    Job,
    AclList,
    AclIds,  ///< identities in the ACL of the command's node
    File,
    Words,  ///< likewise
    Line,   ///< likewise: an optional number, then a command and its words
    Program,
  };
  Kind kind = Kind::Text;
  std::vector<std::string> names{};  ///< "-s", "--stat"; a positional has one name, without dashes
  std::string value{};               ///< the placeholder for an option's value; empty for a flag
  std::string help{};
  std::vector<std::string> choices{};
  /// Choices that depend on the word before, by that word.
  std::map<std::string, std::vector<std::string>, std::less<>> choices_after{};
  bool required = false;
  bool demanded = false;   ///< required, which the command itself checks
  bool legacy = false;     ///< a form of old zkCli versions: accepted, but not shown in the syntax
  bool common = false;     ///< shared by many commands: not shown in the syntax, to keep that short
  bool exclusive = false;  ///< an option that cannot be combined with others that have this set
  bool marked = false;     ///< for Program: must follow `--`

  bool positional() const { return names.front().front() != '-'; }
  bool takes_value() const { return kind != Kind::Flag; }
  /// Those of its names that a syntax such as zkCli's has.
  std::vector<std::string> names_in(std::string_view syntax) const;
  /// How the usage line shows it: "[-v version]", "path", "[data]", "path…", "[program
  /// [argument…]]".
  std::string syntax() const;
  bool takes_rest() const {
    return kind == Kind::Words || kind == Kind::NodePaths || kind == Kind::HeldLocks ||
           kind == Kind::Line;
  }
  /// Whether it is a positional that takes a single word.
  bool takes_one_word() const { return positional() && !takes_rest() && kind != Kind::Program; }
};

/// The usage line of these arguments: "[-s] [-v version] path [data]".
std::string syntax_of(std::span<const Argument> arguments);

}  // namespace zksh
