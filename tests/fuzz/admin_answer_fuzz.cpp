// Fuzzes answers of an AdminServer: HTTP in pieces, and JSON for each word.
#include "client/http_answer.h"
#include "ensemble/admin_server.h"
#include "ensemble/server_command.h"
#include "fuzz.h"

#include <string>
#include <vector>

namespace zksh::fuzz {

void admin_answer_fuzz(std::string_view bytes) {
  Input input(bytes);
  const auto step = static_cast<std::size_t>(input.byte()) + 1;
  const auto words = four_letter_words();
  const auto& word = words[input.byte() % words.size()].word;
  const auto text = input.rest();
  HttpAnswer pieces;
  std::size_t came = 0;
  while (came < text.size() && !pieces.whole(text.substr(0, came)))
    came = std::min(came + step, text.size());
  std::string flaw;
  std::string flaw_at_once;
  const auto body = pieces.body(text.substr(0, came), flaw);
  HttpAnswer at_once;
  const auto same = at_once.body(text.substr(0, came), flaw_at_once);
  require(body == same && flaw == flaw_at_once, "pieces do not matter");
  require(flaw.empty() || body.empty(), "there is a body, or a flaw");
  for (const auto& json : {std::string(text), body}) {
    const std::vector<std::string> bodies(admin_commands(word).size(), json);
    const auto answer = admin_answer(word, bodies);
    require(answer.text.empty() || answer.problem.empty(), "there is an answer, or a problem");
  }
}

}  // namespace zksh::fuzz
