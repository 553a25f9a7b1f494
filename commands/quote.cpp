// quote: quote words for a zksh line.
#include "base/words.h"
#include "command/command.h"
#include "node/node_json.h"

namespace zksh::command_quote {
namespace {

struct Args {
  std::vector<std::string> words;
};

void declare(Options& o, Args& a) {
  o.words("word", a.words, "The text to quote, such as a path or a value.", true);
}

int run(Context& cx, const Args& a) {
  const auto line = as_words(a.words);
  print_result(cx, Json::object().set("quoted", line), line);
  return status::ok;
}

}  // namespace

extern const Command quote_command = make_command<Args>(
    {.name = "quote",
     .group = "Shell",
     .summary = "Quote words for use in a zksh command line",
     .details = "Adds quotes where needed: around blanks, pattern characters and bytes that are "
                "not text. Use it in programs that write zksh scripts.",
     .examples = {{"quote '/my app/*'", "Prints the path in quotes."}},
     .json = "quoted",
     .json_fields = {{"quoted", "string", "The words, quoted."}},
     .needs = Needs::Nothing,
     .strict = true},
    declare, run);
}  // namespace zksh::command_quote
