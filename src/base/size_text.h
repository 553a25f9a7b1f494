// Size text: a number of bytes, as people read and write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zksh {

/// "34 B", "1.2 KiB", "5.0 MiB".
std::string size_text(std::int64_t bytes);
/// "100", "10k", "1.5M", "2G" and "10KiB": bytes, in units of 1024. Throws ValueError naming
/// `what`.
std::int64_t parse_size(std::string_view text, std::string_view what);

}  // namespace zksh
