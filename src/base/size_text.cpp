// Size text: writing and reading it.
#include "base/size_text.h"

#include "base/error.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

namespace zksh {

std::string size_text(std::int64_t bytes) {
  constexpr double kibi = 1024;
  const auto size = static_cast<double>(bytes);
  if (size < kibi) return fmt::format("{} B", bytes);
  if (size < kibi * kibi) return fmt::format("{:.1f} KiB", size / kibi);
  if (size < kibi * kibi * kibi) return fmt::format("{:.1f} MiB", size / kibi / kibi);
  return fmt::format("{:.1f} GiB", size / kibi / kibi / kibi);
}

std::int64_t parse_size(std::string_view text, std::string_view what) {
  constexpr double most = 9e18;
  double number = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  double factor = 1;
  constexpr std::string_view letters = "kMGT";
  constexpr double kibi = 1024;
  if (!unit.empty() && unit != "B") {
    const auto power = unit.front() == 'K' ? 0 : letters.find(unit.front());
    unit.remove_prefix(1);
    if (power == std::string_view::npos || !(unit.empty() || unit == "B" || unit == "iB"))
      number = -1;
    else
      factor = std::pow(kibi, static_cast<double>(power + 1));
  }
  if (problem != std::errc() || !(number >= 0) || number * factor > most)
    throw ValueError(
        fmt::format("{}: \"{}\" is no size: a number of bytes, as 100, 10k or 1.5M", what, text));
  return static_cast<std::int64_t>(std::ceil(number * factor));
}

}  // namespace zksh
