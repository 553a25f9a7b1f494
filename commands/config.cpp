// config: show the members of the ensemble.
#include "client/ensemble.h"
#include "client/server_version.h"
#include "command/command.h"
#include "node/listing.h"

namespace zksh::command_config {
namespace {

struct Args {
  bool connect_string = false;
  bool watch = false;
  bool stat = false;
};

void declare(Options& o, Args& a) {
  o.flag("-c,--clients", a.connect_string, "Print only the version and the client connect string.");
  o.flag("-w,--watch", a.watch, "Report the next change of the configuration.");
  o.flag("-s,--stat", a.stat, "Print the Stat of /zookeeper/config, too.");
}

Node configuration(Context& cx, bool watch) {
  try {
    return cx.client.get_config(cx.printed_watch(watch), cx.stop);
  } catch (const ZkError& error) {
    if (error.code() == code::no_node)
      require_newer(cx.client, error.path(), "the ensemble's configuration", cx.stop);
    throw;
  }
}

int run(Context& cx, const Args& a) {
  const auto config = configuration(cx, a.watch);
  const auto whole = config.data.value_or("null");
  const auto text = a.connect_string ? client_connect_string(whole) : whole;
  print_with_stat(cx, Json::object().set(a.connect_string ? "connectString" : "config", text),
                  cx.out.shown_lines(text), a.stat, config.stat);
  return status::ok;
}

}  // namespace

extern const Command config_command = make_command<Args>(
    {.name = "config",
     .group = "Ensemble",
     .summary = "Show the ensemble's configuration",
     .keywords = {"member", "ensemble", "cluster", "quorum"},
     .details = "Prints a line for each server (ID, host, ports, role, client address), then the "
                "version in hexadecimal. A standalone server prints an empty line.",
     .examples = {{"config", "The members and the version."},
                  {"config -c", "The version and the connect string."},
                  {"config -s -w", "With the Stat, and report the next change."}},
     .json = "config [stat] | connectString [stat]",
     .json_fields = {{"connectString", "string",
                      "The version and the servers as clients name them."}},
     .zkcli_syntax = "[-c] [-w] [-s]",
     .pages = true},
    declare, run);
}  // namespace zksh::command_config
