// Process options: zksh's own, which stand before a command.
#pragma once

#include "command/options.h"
#include "command/output.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// The names of the formats of -o.
inline constexpr std::array<std::pair<const char*, Format>, 3> formats{
    {{"zkcli", Format::Zkcli}, {"plain", Format::Plain}, {"json", Format::Json}}};

/// One of them, as it is declared.
struct ProcessOption {
  std::string names;  ///< "-s,--server"; the last one stands for it in messages
  std::string_view
      value;  ///< what its value is called; empty: it has none; "[=N]": it may have one
  std::string_view help;
  std::string_view key{};   ///< of the Configuration, which it sets; empty: none
  std::string_view sets{};  ///< what an option without a value sets that to
  std::vector<std::string_view> choices{};
  bool repeatable = false;  ///< else the last one counts

  std::string_view name() const;
};
std::span<const ProcessOption> process_option_table();
/// The same for the manual page and for completion.
std::vector<Argument> process_options();
/// What --help prints.
std::string process_help();

/// What was given, in its order; of what is not repeatable, the last.
class GivenOptions {
 public:
  struct Given {
    const ProcessOption* option;
    std::string text;  ///< of one without a value: what it sets its key to, if it has one
  };

  /// Takes options from the front of `words`, up to a command, which stays with its words. Throws
  /// UsageError for an option that is unknown, naming the nearest, or that lacks its value.
  explicit GivenOptions(std::vector<std::string>& words);

  const std::vector<Given>& all() const { return given_; }
  /// The value of the one with this name (as of ProcessOption::name); null: not given.
  const std::string* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  std::vector<Given> given_;
};

}  // namespace zksh
