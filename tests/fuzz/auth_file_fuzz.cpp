// Fuzzes credentials files: no message may quote them.
#include "config/security_settings.h"
#include "fuzz.h"

#include <set>

namespace zksh::fuzz {

void auth_file_fuzz(std::string_view bytes) {
  try {
    const auto credentials = parse_auth_file(std::string(bytes), "NAME");
    require(!credentials.empty(), "there is a credential");
    for (const auto& credential : credentials)
      require(!credential.scheme.empty() && !credential.secret.empty(), "a credential is whole");
  } catch (const Error& error) {
    std::string message = error.what();
    // Only the line number may depend on the text.
    std::erase_if(message, [](char c) { return c >= '0' && c <= '9'; });
    static std::set<std::string> messages;
    messages.insert(message);
    require(messages.size() <= 4, "a message is the same whatever the secret", message);
  }
}

}  // namespace zksh::fuzz
