// Fuzzes regular expressions: RE2 reads whatever is accepted, over any value.
#include "base/error.h"
#include "base/extended_regex.h"
#include "fuzz.h"

#include <string>

namespace zksh::fuzz {

void regex_fuzz(std::string_view bytes) {
  // One that long can be nested too deeply.
  const std::string text(bytes.substr(0, 200));
  try {
    const ExtendedRegex regex(text, "x");
    if (regex.matches_whole(bytes))
      require(regex.matches(bytes), "what matches the whole is found", text);
  } catch (const UsageError& error) {
    const bool too_big = std::string_view(error.what()).find("too big") != std::string_view::npos;
    require(!too_big || text.find('{') != std::string::npos, "RE2 reads what is accepted", text);
  }
}

}  // namespace zksh::fuzz
