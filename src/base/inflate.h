// Inflate: decompresses bytes with zlib.
#pragma once

#include "base/named_values.h"

#include <string>
#include <string_view>

namespace zksh {

enum class Compression { Gzip, Zlib };
inline constexpr NamedValues<Compression, 2> compressions{
    {{"gzip", Compression::Gzip}, {"zlib", Compression::Zlib}}};

/// Decompresses bytes; the members of a gzip file are joined, as gunzip does. Throws Error if the
/// bytes are malformed, or decompress to more than 256 MiB: a megabyte can hold a gigabyte.
std::string inflated(std::string_view bytes, Compression compression);

}  // namespace zksh
