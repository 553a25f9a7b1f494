// Fuzzes Java's properties files, for -client-configuration.
#include "base/java.h"
#include "fuzz.h"

namespace zksh::fuzz {

void properties_fuzz(std::string_view bytes) {
  std::size_t size = 0;
  for (const auto& [key, value] : java_properties(bytes)) size += key.size() + value.size();
  // Each \uXXXX becomes at most three bytes, as does a truncated surrogate.
  require(size <= bytes.size(), "nothing is made up");
  // Without escapes and continuations, each line is a property.
  if (bytes.find_first_of("\\\r\n") != std::string_view::npos || bytes.size() > 1000) return;
  const auto alone = java_properties(bytes);
  const auto among = java_properties("zz=1\n" + std::string(bytes) + "\nzzz: 2");
  require(alone.size() <= 1 && among.size() == alone.size() + 2, "a line is a property");
  if (!alone.empty()) require(among[1] == alone.front(), "lines stand alone");
}

}  // namespace zksh::fuzz
