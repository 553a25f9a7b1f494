// Fuzzes splitting command lines into words, and quoting words.
#include "base/words.h"
#include "fuzz.h"
#include "shell/command_line.h"

namespace zksh::fuzz {
namespace {

/// Checks that whatever is written as a word is read back as that word.
void check_written(std::string_view text) {
  const bool has_nul = text.find('\0') != std::string_view::npos;
  for (const char quote : {'\0', '"', '\'', '$'}) {
    const auto written = write_word(text, quote);
    const auto word = written.text + written.closing;
    require_harmless(word);
    if (has_nul) continue;
    const auto read = split_words(word);
    require(read.size() == 1 && read.front().text == text, "a written word reads back", word);
    require(split_typed(written.text).has_value(), "a word can be gone on with", written.text);
  }
  if (has_nul) return;
  const auto parts = split_commands(as_word(text));
  require(parts.size() == 1 && parts.front() == as_word(text), "a written word ends no command");
}

void check_places(std::string_view line) {
  std::size_t last = 0;
  for (const auto& place : word_places(line)) {
    require(last <= place.begin && place.begin <= place.end && place.end <= line.size(),
            "words stand one behind the other", line);
    last = place.end;
  }
}

}  // namespace

void words_fuzz(std::string_view bytes) {
  check_written(bytes);
  check_places(bytes);
  accepts([&] {
    std::size_t last = 0;
    std::string again;
    const auto words = split_words(bytes);
    for (const auto& word : words) {
      require(last <= word.begin && word.begin < word.end && word.end <= bytes.size(),
              "words stand one behind the other", bytes);
      last = word.end;
      again += as_word(word.text) + ' ';
      if (word.text.find('\0') != std::string::npos) return;
    }
    const auto read = split_words(again);
    require(std::ranges::equal(words, read, {}, &Word::text, &Word::text),
            "the words of a line can be written as a line again", again);
  });
  for (std::size_t end = bytes.size() / 2; end <= bytes.size(); end += bytes.size() / 2 + 1)
    if (const auto typed = split_typed(bytes.substr(0, end)))
      require(typed->last.begin <= end && typed->last.end <= end, "the typed word is in the line");
  for (const auto& command : split_commands(bytes))
    require(!command.empty(), "blank commands are left out");
  for (const bool redirects : {false, true})
    accepts([&] {
      const auto line = parse_command_line(bytes, redirects);
      require(redirects || !line.to, "nothing is redirected where nothing can be");
      require(!line.to || !line.to.target.empty(), "results go somewhere");
    });
}

}  // namespace zksh::fuzz
