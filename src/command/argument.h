// Argument: what the user is told of one argument of a command.
#pragma once

#include "base/error.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace zksh {

/// Too few words, or words that do not fit the syntax: the answer is the usage line.
class SyntaxError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// What is known of one declared argument.
struct Argument {
  enum class Kind {
    Flag,
    Number,
    Text,
    Choice,
    NodePath,
    NodePaths,  ///< all the positional words that are left
    HeldLocks,
    Job,  ///< all the positional words that are left
    AclList,
    File,
    Words,  ///< all the positional words that are left
    Line,   ///< the same: perhaps a number, then a command and its words
    Program,
  };
  Kind kind = Kind::Text;
  std::vector<std::string> names;  ///< "-s", "--stat"; for a positional its one name, without dash
  std::string value{};             ///< of an option that takes one: what the value is called
  std::string help{};
  std::vector<std::string> choices{};
  /// Those that depend on the word before, by that word.
  std::map<std::string, std::vector<std::string>, std::less<>> choices_after{};
  bool required = false;
  bool legacy = false;  ///< a form of an old zkCli: parsed, but not shown in the syntax
  bool common = false;  ///< of many commands: not shown in the syntax, to keep that short
  bool marked = false;  ///< of Program: it stands behind `--` only

  bool positional() const { return names.front().front() != '-'; }
  /// "[-v version]", "path", "[data]", "path…", "[program [argument…]]".
  std::string syntax() const;
  bool takes_rest() const {
    return kind == Kind::Words || kind == Kind::NodePaths || kind == Kind::HeldLocks ||
           kind == Kind::Line;
  }
};

}  // namespace zksh
