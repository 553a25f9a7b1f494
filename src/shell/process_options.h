// Process options: zksh's own options, which precede a command.
#pragma once

#include "command/options.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The declaration of an option.
struct ProcessOption {
  std::string_view names;    ///< "-s,--server"; messages use the last one
  std::string_view value{};  ///< placeholder of the value; empty: none; "[=N]": optional
  std::string_view help;
  std::string_view key{};                       ///< the Configuration key that it sets; empty: none
  std::string_view sets{};                      ///< what an option without a value sets the key to
  std::span<const std::string_view> choices{};  ///< unless the key is a setting, which has its own
  bool repeatable = false;                      ///< otherwise the last one counts

  constexpr std::string_view name() const { return names.substr(names.rfind(',') + 1); }
};
/// The options for the manual page and for completion.
std::vector<Argument> process_options();
/// The text of --help.
std::string process_help();

/// The options given, in order; if not repeatable, only the last. At first there are none.
class GivenOptions {
 public:
  struct Given {
    const ProcessOption* option;
    std::string text;  ///< for one without a value: what it sets its key to, if any
  };

  /// Removes options from the front of `words`, up to a command, which stays with its words. Words
  /// that begin with a dash and name no option are left out, as zkCli does; so is a last option
  /// without its value. Throws UsageError for a switch that is neither on nor off.
  void take(std::vector<std::string>& words);

  /// What was left out: a sentence for each, that names it.
  const std::vector<std::string>& left_out() const { return left_out_; }

  const std::vector<Given>& all() const { return given_; }
  /// The value of the option with this name (ProcessOption::name); null if it was not given.
  const std::string* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  void add(const ProcessOption& option, const std::optional<std::string>& value);

  std::vector<Given> given_;
  std::vector<std::string> left_out_;
};

}  // namespace zksh
