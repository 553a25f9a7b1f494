// Settings: what can be switched while zksh runs.
#pragma once

#include "base/monitor.h"

#include <atomic>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// What this zksh may not do, and what it asks about twice. Fixed when it starts.
struct Protection {
  bool read_only = false;   ///< no write may be sent
  bool production = false;  ///< removals ask for the node's name
  std::string profile{};    ///< in use, or empty

  /// What the prompt calls it; empty when there is nothing to say.
  std::string name() const {
    if (!profile.empty()) return profile;
    return production ? "PRODUCTION" : read_only ? "READ-ONLY" : "";
  }
};

/// The settings have their first values from the configuration; `conf` changes them. Members may be
/// called from any thread; the switches may be read under the Monitor, too.
class Settings {
 public:
  /// What the user is told about one of them.
  struct Description {
    std::string_view name;
    std::string_view initial;
    std::string_view help;  ///< a sentence
    std::vector<std::string_view> choices{};
    std::atomic<bool> Settings::*flag = nullptr;  ///< of a switch, whose choices are on and off
  };
  /// All of them, in the order of their names.
  static std::span<const Description> descriptions();
  /// Null when there is none of that name.
  static const Description* find(std::string_view name);

  explicit Settings(Monitor& monitor);

  std::atomic<bool> confirm{true};        ///< ask before a subtree is removed
  std::atomic<bool> highlight{true};      ///< colour the typed line
  std::atomic<bool> hints{true};          ///< show what could follow the typed line
  std::atomic<bool> print_watches{true};  ///< print watch events
  std::atomic<bool> timing{false};        ///< say how long each command took

  /// The options that this zksh was started with and that its sessions depend on, as words: for
  /// another one like it. Fixed when it starts.
  std::vector<std::string> session_options{};

  std::string value(std::string_view name) const;
  std::string value(const Monitor::Held& held, std::string_view name) const;
  /// Where the value came from, for the user: "conf", a file, "default".
  std::string origin(std::string_view name) const;
  /// Throws ValueError when there is no such setting, or it cannot have this value.
  void set(std::string_view name, std::string_view value, std::string_view origin);

 private:
  struct Kept {
    std::string value;
    std::string origin;
  };
  Monitor& monitor_;
  Guarded<std::map<std::string, Kept, std::less<>>> kept_;
};

/// The choices of a switch, and a value that stands for one of them: on, true, yes, 1 and their
/// opposites. Throws ValueError naming `what`.
bool parse_switch(std::string_view value, std::string_view what);

}  // namespace zksh
