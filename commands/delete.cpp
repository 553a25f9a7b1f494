// delete: remove a node that has no children.
#include "command.h"
#include "listing.h"

namespace zksh {
namespace {

struct Args {
  std::optional<std::int32_t> version;
  std::string path;
  std::optional<std::string> legacy_version;
};

void declare(Options& o, Args& a) {
  o.number("-v", a.version, "version", "Remove only if this is the data version; -1: any.");
  o.node("path", a.path, "The node to remove.");
  o.legacy().text("version", a.legacy_version, "As -v, when it is a number.");
}

/// zkCli 3.8 takes any word here, says that the form is old, and looks no further; 3.4 read a
/// version.
std::int32_t wanted_version(const Args& a) {
  if (a.version) return *a.version;
  if (!a.legacy_version || !is_number(*a.legacy_version)) return -1;
  return static_cast<std::int32_t>(
      parse_number(*a.legacy_version, "version", INT32_MIN, INT32_MAX));
}

int run(Context& cx, const Args& a) {
  if (a.legacy_version) tell_deprecated(cx, "delete path [version]", "delete [-v version] path");
  const auto version = wanted_version(a);
  if (a.legacy_version && cx.input != Input::Pipe && !is_number(*a.legacy_version))
    throw UsageError("the version is no number: " + *a.legacy_version);
  cx.client.remove({.path = cx.resolve(a.path), .version = version}, cx.stop);
  return status::ok;
}

}  // namespace

extern const Command delete_command = make_command<Args>(
    {.name = "delete",
     .group = "Nodes",
     .summary = "Remove a node that has no children",
     .details = "Silent when it worked. deleteall removes a whole subtree.",
     .examples = {{"delete /app/config", "Remove a node."},
                  {"delete -v 0 /app/jobs", "Only if nobody wrote since it was made."}},
     .zkcli_syntax = "[-v version] path"},
    declare, run);
}  // namespace zksh
