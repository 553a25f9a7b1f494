// Fuzzes the masking of secrets: plants one in each line.
#include "base/secrets.h"
#include "fuzz.h"

namespace zksh::fuzz {

void secrets_fuzz(std::string_view bytes) {
  constexpr std::string_view secret = "pw73Q";
  const std::string before(bytes);
  const auto masked = without_secrets(before);
  require(masked.size() <= 4 * before.size() + 3, "masks are short");
  if (before.find(secret) != std::string::npos) return;
  for (const std::string_view carrier :
       {" addauth digest ann:", "\taddauth digest ",
        " addauth 'digest' \"ann:", " setAcl / digest:ann:", " 'auth:ann:", " digest ann:"}) {
    // The end of a quoted word may swallow the start of the carrier.
    const auto line = before + std::string(carrier) + std::string(secret);
    if (carrier.find("addauth") != std::string_view::npos)
      require(without_secrets(line).find(secret) == std::string::npos, "no secret is left", line);
    else
      without_secrets(line);
  }
}

}  // namespace zksh::fuzz
