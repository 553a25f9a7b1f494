// Checksum: zlib's, of bytes in one piece or several.
#include "base/checksum.h"

#include <zlib.h>

namespace zksh {
namespace {

const Bytef* bytes_of(std::string_view bytes) {
  // A null pointer would ask zlib for the start value.
  return reinterpret_cast<const Bytef*>(bytes.empty() ? "" : bytes.data());
}

}  // namespace

std::uint32_t adler32_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(adler32_z(before, bytes_of(bytes), bytes.size()));
}

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(crc32_z(before, bytes_of(bytes), bytes.size()));
}

}  // namespace zksh
