// Drop-in: zksh in the place of zkCli.sh.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// A tool in whose place zksh can run. Its users' scripts then find what they expect: see
/// zksh(1), "In place of zkCli.sh".
struct DropIn {
  std::string_view name;      ///< for --as
  bool server_first = false;  ///< the first word is the server
};

/// By the value of --as, $ZKSH_AS or the key `as`. Null for "zksh", zksh itself. Throws UsageError,
/// naming `what`, if there is no such tool.
const DropIn* drop_in_named(std::string_view name, std::string_view what);
/// By the name under which the program was started, such as /usr/local/bin/zkCli.sh; null if that
/// is none of a tool's.
const DropIn* drop_in_started_as(std::string_view program);

/// The settings of a drop-in, and their values. Options override them.
std::span<const std::pair<std::string_view, std::string_view>> drop_in_settings();

}  // namespace zksh
