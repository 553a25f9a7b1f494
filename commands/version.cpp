// version: show the version of zksh.
#include "command/command.h"
#include "command/zkcli_style.h"
#include "config/settings.h"
#include "node/node_json.h"

namespace zksh::command_version {
namespace {

struct Args {
  std::optional<std::string> surplus;
};

void declare(Options& o, Args& a) {
  o.legacy().text("nothing", a.surplus, "Not accepted, as in zkCli.");
}

int run(Context& cx, const Args& a) {
  if (a.surplus) throw SyntaxError("version takes no arguments");
  // In the place of zkCli, scripts look for the version that they know.
  const auto* const mimicked =
      mimicked_zkcli(cx.services.settings) == ZkCliVersion::V39 ? "3.9.3-" : "3.8.0-";
  print_result(
      cx, Json::object().set("zkshVersion", ZKSH_VERSION),
      fmt::format("ZooKeeper CLI version: {}",
                  cx.services.settings.drop_in ? fmt::format("{}zksh-{}", mimicked, ZKSH_VERSION)
                                               : "zksh " ZKSH_VERSION));
  return status::ok;
}

}  // namespace

extern const Command version_command =
    make_command<Args>({.name = "version",
                        .group = "Shell",
                        .summary = "Show the version of zksh",
                        .keywords = {"release"},
                        .examples = {{"version", "Print the version."}},
                        .json = "zkshVersion",
                        .json_fields = {{"zkshVersion", "string", "zksh's version."}},
                        .zkcli_syntax = ""},
                       declare, run);
}  // namespace zksh::command_version
