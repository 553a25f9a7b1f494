// Size text: a number of bytes for people.
#pragma once

#include <cstdint>
#include <string>

namespace zksh {

/// "34 B", "1.2 KiB", "5.0 MiB".
std::string size_text(std::int64_t bytes);

}  // namespace zksh
