// check: check that a node exists, or has a version.
#include "command/command.h"
#include "node/listing.h"
#include "node/node_json.h"

namespace zksh::command_check {
namespace {

struct Args {
  std::optional<std::int32_t> version;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.number("-v,--version", a.version, "version", "The expected data version; -1 matches any.");
  o.node("path", a.path, "The node to check.");
}

CheckOp check_op(const Context& cx, const Args& a) {
  return {.path = cx.resolve(a.path), .version = a.version.value_or(-1)};
}

Op operation(Context& cx, const Args& a) { return check_op(cx, a); }

Sent run(Context& cx, const Args& a) {
  const auto op = check_op(cx, a);
  const auto start = [&cx](const std::string& path) {
    return cx.client.start_exists(path, Watch::none());
  };
  return start_read(cx, op.path, start, [&cx, op](const std::string& path, const Stat& stat) {
    if (op.version != -1 && op.version != stat.version) throw ZkError(code::bad_version, path);
    acknowledge(cx, path_json(path).set("version", stat.version));
  });
}

}  // namespace

extern const Command check_command = make_command<Args>(
    {.name = "check",
     .group = "Nodes",
     .summary = "Check that a node exists, or has a certain version",
     .keywords = {"exists", "test", "version"},
     .details = "Prints nothing on success. The status is 4 if the node does not exist, 6 if it "
                "has another version. In a transaction (`multi`), the other operations are applied "
                "only if the check succeeds.",
     .examples = {{"check /app", "Does it exist?"},
                  {"check -v 0 /app", "Has its value never been changed?"},
                  {"multi 'check -v 0 /app' 'create /app/seen'",
                   "Create a node only if another one is unchanged."}},
     .json = "path version"},
    declare, run, operation);
}  // namespace zksh::command_check
