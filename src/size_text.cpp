// Size text: a number of bytes for people.
#include "size_text.h"

#include <fmt/format.h>

namespace zksh {

std::string size_text(std::int64_t bytes) {
  constexpr double kibi = 1024;
  const auto size = static_cast<double>(bytes);
  if (size < kibi) return fmt::format("{} B", bytes);
  if (size < kibi * kibi) return fmt::format("{:.1f} KiB", size / kibi);
  if (size < kibi * kibi * kibi) return fmt::format("{:.1f} MiB", size / kibi / kibi);
  return fmt::format("{:.1f} GiB", size / kibi / kibi / kibi);
}

}  // namespace zksh
