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

/// A bare word that begins with a dash would be an option.
std::string as_data(const std::string& text) {
  const auto word = as_word(text);
  return word.starts_with('-') ? '\'' + word + '\'' : word;
}

int run(Context& cx, const Args& a) {
  std::string line;
  for (const auto& word : a.words) line += (line.empty() ? "" : " ") + as_data(word);
  print_result(cx, Json::object().set("quoted", line), line);
  return status::ok;
}

}  // namespace

extern const Command quote_command = make_command<Args>(
    {.name = "quote",
     .group = "Shell",
     .summary = "Quote words for use in a zksh command line",
     .details =
         "Adds quotes where needed: around blanks, pattern characters, bytes that are not "
         "text, and a word that would be an option. Use it in programs that write zksh scripts.",
     .examples = {{"quote '/my app/*'", "Prints the path in quotes."}},
     .json = "quoted",
     .json_fields = {{"quoted", "string", "The words, quoted."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_quote
