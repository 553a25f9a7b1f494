// Fuzzes files of credentials: no message may hold anything of them.
#include "auth_file.h"
#include "fuzz.h"

namespace zksh::fuzz {

void auth_file_fuzz(std::string_view bytes) {
  try {
    const auto credentials = parse_auth_file(std::string(bytes), "NAME");
    require(!credentials.empty(), "there is a credential");
    for (const auto& credential : credentials)
      require(!credential.scheme.empty() && !credential.secret.empty(), "a credential is whole");
  } catch (const Error& error) {
    std::string message = error.what();
    // The only thing in it that depends on the text is the number of a line.
    std::erase_if(message, [](char c) { return c >= '0' && c <= '9'; });
    require_harmless(message);
    require(message.size() < 200, "a message is short", message);
    for (std::size_t at = 0; at + 12 <= bytes.size(); ++at)
      require(message.find(bytes.substr(at, 12)) == std::string::npos, "no secret is told",
              message);
  }
}

}  // namespace zksh::fuzz
