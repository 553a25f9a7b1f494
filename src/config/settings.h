// Settings: what `conf` can change while zksh runs, and how it is set when zksh takes the place of
// zkCli.sh.
#pragma once

#include "base/monitor.h"

#include <atomic>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Restrictions on this zksh, fixed when it starts.
struct Protection {
  bool read_only = false;   ///< writes are refused
  bool production = false;  ///< removals ask the user to type the node's name
  std::string profile{};    ///< the profile in use, or empty

  /// The name for the prompt; empty if there are no restrictions and no profile.
  std::string name() const {
    if (!profile.empty()) return profile;
    return production ? "PRODUCTION" : read_only ? "READ-ONLY" : "";
  }
};

/// Initialized from the configuration. Members may be called from any thread; the atomic switches
/// may also be read under the Monitor.
class Settings {
 public:
  /// Describes a setting to the user.
  struct Description {
    std::string_view name;
    std::string_view initial;
    std::string_view help;  ///< a sentence
    std::vector<std::string_view> choices{};
    std::atomic<bool> Settings::*flag = nullptr;  ///< for a switch, whose choices are on and off
    /// What is wrong with a value, for a sentence; null if every value is valid.
    std::optional<std::string> (*flaw)(std::string_view value) = nullptr;
  };
  /// All settings, sorted by name.
  static std::span<const Description> descriptions();
  /// Null if there is no such setting.
  static const Description* find(std::string_view name);

  explicit Settings(Monitor& monitor);

  std::atomic<bool> confirm{true};        ///< ask before removing a subtree
  std::atomic<bool> highlight{true};      ///< colour the line being typed
  std::atomic<bool> hints{true};          ///< show hints after the line being typed
  std::atomic<bool> print_watches{true};  ///< print watch events
  std::atomic<bool> timing{false};        ///< print how long each command took

  /// The options that this zksh was started with and that its sessions depend on, to start another
  /// zksh like it. Fixed when it starts.
  std::vector<std::string> session_options{};
  /// This zksh runs in the place of zkCli.sh (--as). Fixed when it starts.
  bool drop_in = false;

  std::string value(std::string_view name) const;
  std::string value(const Monitor::Held& held, std::string_view name) const;
  /// The origin of the value, for the user: "conf", a file, "default".
  std::string origin(std::string_view name) const;
  /// Throws ValueError if there is no such setting or the value is invalid.
  void set(std::string_view name, std::string_view value, std::string_view origin);

 private:
  struct Kept {
    std::string value;
    std::string origin;
  };
  Monitor& monitor_;
  Guarded<std::map<std::string, Kept, std::less<>>> kept_;
};

/// Parses on, true, yes, 1 and their opposites. Throws ValueError naming `what`.
bool parse_switch(std::string_view value, std::string_view what);

/// The settings with which zksh takes the place of a tool, and their values. Options override them.
std::span<const std::pair<std::string_view, std::string_view>> drop_in_settings();

}  // namespace zksh
