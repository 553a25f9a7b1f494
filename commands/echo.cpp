// echo: print words.
#include "command/command.h"
#include "node/node_json.h"

#include <fmt/ranges.h>

namespace zksh::command_echo {
namespace {

struct Args {
  std::vector<std::string> words;
};

void declare(Options& o, Args& a) { o.words("word", a.words, "The words."); }

int run(Context& cx, const Args& a) {
  const auto text = fmt::format("{}", fmt::join(a.words, " "));
  print_result(cx, Json::object().set("text", text), cx.out.shown(text));
  return status::ok;
}

}  // namespace

extern const Command echo_command = make_command<Args>(
    {.name = "echo",
     .group = "Shell",
     .summary = "Print words",
     .keywords = {"print", "message", "text", "say"},
     .details = "Prints the words, with a blank between them, and a line end: a heading in a "
                "script, or what the words of a line are.",
     .examples = {{"echo 'the nodes of' /app", "A heading."}},
     .json = "text",
     .needs = Needs::Nothing,
     .allowed_in_transaction = true},
    declare, run);
}  // namespace zksh::command_echo
