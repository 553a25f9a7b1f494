// zlib: decompresses bytes, and computes checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace zksh {

/// The first bytes of gzip's format (RFC 1952).
inline constexpr std::string_view gzip_magic("\x1f\x8b");

enum class Compression { Gzip, Zlib };

/// Decompresses bytes; the members of a gzip file are joined, as gunzip does. Throws Error if the
/// bytes are malformed, or decompress to more than 256 MiB: a megabyte can hold a gigabyte.
std::string inflated(std::string_view bytes, Compression compression);

/// The same piece by piece, for bytes of any length.
class Inflation {
 public:
  /// Returns the next compressed bytes, which must stay valid until the next call; none at the end.
  using Source = std::function<std::string_view()>;

  Inflation(Source source, Compression compression);
  ~Inflation();

  /// Writes at most `most` bytes, and returns how many; 0 only at the end. Throws Error.
  std::size_t read(char* into, std::size_t most);

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

inline constexpr std::uint32_t adler32_start = 1;
/// RFC 1950. `before` is the checksum of the bytes before.
std::uint32_t adler32_of(std::string_view bytes, std::uint32_t before = adler32_start);
/// As in gzip and Java's CRC32.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);

}  // namespace zksh
