// Invocation: a command as it was given, with the words of its line.
#include "command/invocation.h"

#include "command/command.h"
#include "command/given_words.h"

#include <algorithm>

namespace zksh {

Invocation::Invocation(Input from, std::span<const std::string> words,
                       const std::vector<bool>& quoted)
    : input(from),
      command(command_named(words.front())),
      name(words.front()),
      arguments(words.begin() + 1, words.end()) {
  if (!quoted.empty()) this->quoted.assign(quoted.begin() + 1, quoted.end());
}

std::vector<std::string> Invocation::words() const {
  std::vector<std::string> all{name};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

Invocation Invocation::of_last(std::size_t count) const {
  const auto last = static_cast<std::ptrdiff_t>(count);
  return {input, std::span(arguments).last(count),
          quoted.empty() ? quoted : std::vector(quoted.end() - last, quoted.end())};
}

bool Invocation::has_option(std::string_view option) const {
  if (std::ranges::find(arguments, option) == arguments.end()) return false;
  const auto declared = command->arguments();
  const auto given = given_words(declared, arguments, data());
  // No command declares --help.
  return std::ranges::count(given.options, option, &GivenWords::Option::word) > 0 ||
         std::ranges::count(given.unknown, option) > 0;
}

bool Invocation::may_choose_format() const {
  return std::ranges::any_of(arguments, [](const std::string& word) {
    return word.starts_with("-o") || word.starts_with("--o");
  });
}

}  // namespace zksh
