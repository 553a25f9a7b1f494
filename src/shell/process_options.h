// Process options: zksh's own options, which precede a command.
#pragma once

#include "command/options.h"
#include "command/output.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// The names of the formats for -o.
inline constexpr std::array<std::pair<const char*, Format>, 3> formats{
    {{"zkcli", Format::Zkcli}, {"plain", Format::Plain}, {"json", Format::Json}}};

/// The declaration of an option.
struct ProcessOption {
  std::string names;         ///< "-s,--server"; messages use the last one
  std::string_view value{};  ///< placeholder of the value; empty: none; "[=N]": optional
  std::string_view help;
  std::string_view key{};   ///< the Configuration key that it sets; empty: none
  std::string_view sets{};  ///< what an option without a value sets the key to
  std::vector<std::string_view> choices{};
  bool repeatable = false;  ///< otherwise the last one counts

  std::string_view name() const;
};
/// The options for the manual page and for completion.
std::vector<Argument> process_options();
/// The text of --help.
std::string process_help();

/// The options given, in order; if not repeatable, only the last.
class GivenOptions {
 public:
  struct Given {
    const ProcessOption* option;
    std::string text;  ///< for one without a value: what it sets its key to, if any
  };

  /// Removes options from the front of `words`, up to a command, which stays with its words. Throws
  /// UsageError if an option is unknown, suggesting the nearest, or lacks its value.
  explicit GivenOptions(std::vector<std::string>& words);

  const std::vector<Given>& all() const { return given_; }
  /// The value of the option with this name (ProcessOption::name); null if it was not given.
  const std::string* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  std::vector<Given> given_;
};

}  // namespace zksh
