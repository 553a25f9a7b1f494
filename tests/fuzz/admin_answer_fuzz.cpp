// Fuzzes answers of an AdminServer: HTTP, and JSON for each word.
#include "ensemble/admin_server.h"
#include "fuzz.h"

#include <string>
#include <vector>

namespace zksh::fuzz {

void admin_answer_fuzz(std::string_view bytes) {
  Input input(bytes);
  input.byte();  // the corpus has one here that no longer matters
  const auto words = four_letter_words();
  const auto& word = words[input.byte() % words.size()].word;
  const auto text = input.rest();
  std::string flaw;
  const auto body = http_body(std::string(text), flaw);
  require(flaw.empty() || body.empty(), "there is a body, or a flaw");
  for (const auto& json : {std::string(text), body}) {
    const std::vector<std::string> bodies(admin_commands(word).size(), json);
    const auto answer = admin_answer(word, bodies);
    require(answer.text.empty() || answer.problem.empty(), "there is an answer, or a problem");
  }
}

}  // namespace zksh::fuzz
