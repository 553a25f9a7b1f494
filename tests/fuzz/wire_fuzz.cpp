// Fuzzes what servers send: a byte for the number of requests sent, a byte for the kind of each,
// and the frames of answers, each after two bytes for its length.
#include "fuzz.h"
#include "session/reply_validator.h"

namespace zksh::fuzz {

void wire_fuzz(std::string_view bytes) {
  for (const bool fresh : {false, true}) flaw_of_greeting(bytes, fresh);
  session_request(bytes);
  Input input(bytes);
  WireConversation conversation;
  const unsigned requests = input.byte() % 8U;
  for (unsigned i = 1; i <= requests; ++i) {
    const std::string_view number("\0\0\0", 3);
    std::string request;
    request.append(number).append(1, static_cast<char>(i));
    request.append(number).append(1, static_cast<char>(input.byte()));
    // The rest of the input is used as a transaction's operations.
    conversation.note_request(request.append(input.rest()));
  }
  std::size_t answered = 0;
  auto rest = input.rest();
  while (rest.size() > 2) {
    const auto size =
        (static_cast<unsigned char>(rest[0]) & 3U) * 256U + static_cast<unsigned char>(rest[1]);
    const auto frame = rest.substr(2, size);
    rest.remove_prefix(2 + frame.size());
    const bool asked = frame.size() >= 4 && static_cast<signed char>(frame.front()) >= 0;
    if (conversation.flaw_of(frame) == nullptr && asked) ++answered;
  }
  require(answered <= requests, "each request is answered once");
}

}  // namespace zksh::fuzz
