// Configuration: what files, environment and options say, and which of them said it.
//
// The files have the format of CLI11's configuration files: `key = value` lines, # comments, and
// a section `[NAME]` for each profile, whose keys go before those above the first section.
// $XDG_CONFIG_HOME/zksh/config is the user's, zksh/config in $XDG_CONFIG_DIRS the system's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Blocks while files are read. Used on one thread.
class Configuration {
 public:
  struct Value {
    std::string text;
    std::string
        origin;  ///< for the user: "--server", "$ZKSH_SERVER", "FILE", "FILE [prod]", "default"
  };
  struct Key {
    std::string_view name;
    std::string_view initial;
    std::string_view help;
  };
  /// Those that decide how zksh starts, sorted by name; Settings::descriptions() are keys, too.
  static std::span<const Key> keys();

  /// With the values that stand when nothing is configured.
  Configuration();

  /// Reads the files that exist, the system's first, and takes the values of `profile`, or of the
  /// one that a file names. Throws UsageError for a file that cannot be read, a key that is unknown
  /// (naming the nearest), or a profile that no file has.
  void read_files(const std::optional<Value>& profile);
  /// A later one replaces an earlier one: files come first, then environment, then options.
  void set(std::string_view key, std::string text, std::string origin);

  const Value& operator[](std::string_view key) const { return values_.find(key)->second; }
  const std::string& text(std::string_view key) const { return (*this)[key].text; }
  /// The value of a key that is on or off. Throws ValueError naming the key and its origin.
  bool is_on(std::string_view key) const;
  /// The profile in use; empty: none.
  const std::string& profile() const { return text("profile"); }
  /// Those that the files have, sorted.
  const std::vector<std::string>& profiles() const { return profiles_; }
  /// A line for each key, sorted: its value, and where that came from.
  std::string report() const;

 private:
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> profiles_;
};

/// Where the files are, the one that counts less first. They need not exist.
std::vector<std::string> configuration_files();

struct ConfigurationFile {
  std::string name;
  /// Keys and values by section; the empty name is what stands above the first.
  std::map<std::string, std::map<std::string, std::string>> sections;
};

/// nullopt when there is no such file. Throws UsageError when it cannot be read or taken apart.
/// Blocks.
std::optional<ConfigurationFile> read_configuration_file(const std::string& name);

}  // namespace zksh
