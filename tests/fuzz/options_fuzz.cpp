// Fuzzes the parsing of commands' words: a byte chooses the command, each line is a word.
#include "command/command.h"
#include "command/given_words.h"
#include "fuzz.h"

namespace zksh::fuzz {

void options_fuzz(std::string_view bytes) {
  Input input(bytes);
  const auto commands = all_commands();
  const auto* const command = commands[input.byte() % commands.size()];
  const auto words = input.lines(20);
  Options declared;
  const auto args = command->declare(declared);
  given_words(declared.arguments(), words);
  for (const auto& word : words) option_word(declared.arguments(), word);
  accepts([&] {
    declared.parse(words);
    require(declared.surplus().size() <= words.size(), "no words are made up");
  });
  auto line = words;
  line.emplace(line.begin(), command->name);
  Invocation(zksh::Input::Text, line).requests_dry_run();
  for (const auto& word : words) {
    command_named(word);
    require(suggested_commands(word).size() <= 4, "few commands are named");
  }
}

}  // namespace zksh::fuzz
