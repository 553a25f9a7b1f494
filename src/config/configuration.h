// Configuration: settings from files, the environment and options, and their origins.
//
// The files have the format of CLI11's configuration files: `key = value` lines, # comments, and a
// section `[NAME]` per profile, whose values override those above the first section. The user's
// file is $XDG_CONFIG_HOME/zksh/config, the system's is zksh/config in $XDG_CONFIG_DIRS.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Used on one thread. Blocks while it reads files.
class Configuration {
 public:
  struct Value {
    std::string text;
    std::string
        origin;  ///< for the user: "--server", "$ZKSH_SERVER", "FILE:2", "FILE:7 [prod]", "default"
    int level = 0;  ///< see begin_level
  };
  struct Key {
    std::string_view name;
    std::string_view initial;
    std::string_view help;
  };
  /// All keys, sorted by name: those that apply when zksh starts, and the Settings.
  static std::span<const Key> keys();

  /// Has the default values.
  Configuration();

  /// Reads the existing files, the system's first, with the values of `profile`, or else of the
  /// profile that a file names. Throws UsageError if a file cannot be read, a key is unknown
  /// (suggesting the nearest), or no file has the profile; then no file's values are set.
  void read_files(const std::optional<Value>& profile);
  /// Sets a value, replacing the previous one: call it for files first, then the environment, then
  /// options.
  void set(std::string_view key, std::string text, std::string origin);
  /// Values set from now on take precedence over earlier ones: for a section of a file, and the
  /// options.
  void begin_level() { ++level_; }

  const Value& operator[](std::string_view key) const { return values_.find(key)->second; }
  const std::string& text(std::string_view key) const { return (*this)[key].text; }
  /// How messages name a value: "--tls-key", or "tls-key (FILE:7 [prod])".
  std::string described(std::string_view key) const;
  /// The value of a switch. Throws ValueError naming the key and its origin.
  bool is_on(std::string_view key) const;
  /// The profile in use; empty if none.
  const std::string& profile() const { return text("profile"); }
  /// The profiles in the files, sorted.
  const std::vector<std::string>& profiles() const { return profiles_; }
  /// One line per key, sorted: its value and origin.
  std::string report() const;

 private:
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> profiles_;
  int level_ = 0;
};

struct ConfigurationFile {
  std::string name;
  struct Entry {
    std::string text;
    std::size_t line = 0;  ///< its number
  };
  /// Keys and values by section; "" is the part above the first section.
  std::map<std::string, std::map<std::string, Entry>> sections;
};

/// nullopt if there is no such file. Throws UsageError if it cannot be read or parsed. Blocks.
std::optional<ConfigurationFile> read_configuration_file(const std::string& name);

}  // namespace zksh
