// pwd: print the current node.
#include "command/command.h"
#include "command/current_node.h"
#include "node/node_json.h"

namespace zksh::command_pwd {
namespace {

int run(Context& cx) {
  print_result(cx, path_json(cx.current.path()), cx.out.shown(cx.current.path()));
  return status::ok;
}

}  // namespace

extern const Command pwd_command =
    make_command({.name = "pwd",
                  .group = "Shell",
                  .summary = "Print the current node",
                  .keywords = {"directory"},
                  .details = "Prints the node that relative paths start from; `cd` changes it.",
                  .examples = {{"pwd", "Print the current node."}},
                  .json = "path",
                  .needs = Needs::Nothing,
                  .allowed_in_transaction = true},
                 run);
}  // namespace zksh::command_pwd
