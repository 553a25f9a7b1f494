// deleteall: remove a node and all below it.
#include "command.h"
#include "subtree_removal.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
namespace {

struct Args {
  std::optional<std::string> batch;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.text("-b", a.batch, "Nodes in one transaction, 1000 by default.", "batch size");
  o.node("path", a.path, "The top of the subtree.");
}

std::size_t batch_size(const Args& a) {
  constexpr std::int64_t most = 1 << 20;
  if (!a.batch) return 1000;
  try {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(parse_number(*a.batch, "-b", INT32_MIN, INT32_MAX), 1, most));
  } catch (const UsageError&) {
    throw ValueError("-b argument must be an int value");
  }
}

int run(Context& cx, const Args& a) {
  const auto batch = batch_size(a);
  const auto path = cx.resolve(a.path);
  const auto removal = remove_subtree(cx.client, path, batch, cx.stop);
  if (!removal.failure) return status::ok;
  cx.out.err_line("Failed to delete some node(s) in the subtree!");
  if (cx.input != Input::Pipe)
    cx.out.err_line("{} of {} nodes were removed; the first failure: {}", removal.removed,
                    removal.found, cx.out.shown_in_error(removal.failure->what()));
  return removal.failure->exit_status();
}

}  // namespace

extern const Command deleteall_command = make_command<Args>(
    {.name = "deleteall",
     .aliases = {"rmr"},
     .group = "Nodes",
     .summary = "Remove a node and all below it",
     .details =
         "The nodes are found first, then removed from the deepest level up, in transactions of "
         "the "
         "batch size that are sent without waiting for one another. A transaction is applied as a "
         "whole or not at all; a failed one does not stop the others. Nothing is removed when a "
         "part "
         "of the subtree cannot be listed; in subtrees of more than 10 000 nodes, where long rows "
         "of "
         "siblings are taken for leaves when the first is one, a part may be gone by then.",
     .examples = {{"deleteall /app", "Remove a subtree."}},
     .zkcli_syntax = "path [-b batch size]"},
    declare, run);
}  // namespace zksh
