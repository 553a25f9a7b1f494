// Checksum: zlib's, of bytes in one piece or several.
#pragma once

#include <cstdint>
#include <string_view>

namespace zksh {

inline constexpr std::uint32_t adler32_start = 1;
/// RFC 1950. `before` is the checksum of the bytes before.
std::uint32_t adler32_of(std::string_view bytes, std::uint32_t before = adler32_start);
/// As in gzip and Java's CRC32.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);

}  // namespace zksh
