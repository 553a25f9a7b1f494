// Fuzzes regular expressions: what is accepted, over any value.
#include "base/error.h"
#include "base/regex.h"
#include "fuzz.h"

#include <string>

namespace zksh::fuzz {

void regex_fuzz(std::string_view bytes) {
  const std::string text(bytes.substr(0, 200));
  accepts([&] {
    const Regex regex(text, "x");
    if (regex.matches_whole(bytes))
      require(regex.matches(bytes), "what matches the whole is found", text);
  });
}

}  // namespace zksh::fuzz
