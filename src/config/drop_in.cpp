// Drop-in: zksh in the place of zkCli.sh.
#include "config/drop_in.h"

#include "base/error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace zksh {
namespace {

constexpr std::array<DropIn, 2> drop_ins{
    {{.name = "zkcli"}, {.name = "zookeeper-shell", .server_first = true}}};

/// The names of programs, and what they are. Debian, Bigtop and Cloudera call zkCli.sh
/// zookeeper-client; Kafka's zookeeper-shell is the same with the server as its first word.
constexpr std::array<std::pair<std::string_view, const DropIn*>, 4> programs{
    {{"zkCli.sh", drop_ins.data()},
     {"zookeeper-client", drop_ins.data()},
     {"zookeeper-shell", &drop_ins[1]},
     {"zookeeper-shell.sh", &drop_ins[1]}}};

}  // namespace

const DropIn* drop_in_named(std::string_view name, std::string_view what) {
  if (name == "zksh") return nullptr;
  const auto* const found = std::ranges::find(drop_ins, name, &DropIn::name);
  if (found == drop_ins.end())
    throw UsageError(
        fmt::format("{}: \"{}\" is not one of zksh, zkcli, zookeeper-shell", what, name));
  return found;
}

const DropIn* drop_in_started_as(std::string_view program) {
  const auto name = program.substr(program.rfind('/') + 1);  // npos + 1 is 0
  const auto* const found =
      std::ranges::find(programs, name, [](const auto& entry) { return entry.first; });
  return found == programs.end() ? nullptr : found->second;
}

std::span<const std::pair<std::string_view, std::string_view>> drop_in_settings() {
  static constexpr auto settings =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"color", "never"},
                                                                    {"confirm", "off"},
                                                                    {"highlight", "off"},
                                                                    {"hints", "off"},
                                                                    {"output", "zkcli"},
                                                                    {"pager", "off"},
                                                                    {"prompt", "[zk: %h(%S) %n] "},
                                                                    {"timing", "off"}});
  return settings;
}

}  // namespace zksh
