// Inflate: compressed bytes made readable again, through zlib.
#pragma once

#include "base/named_values.h"

#include <string>
#include <string_view>

namespace zksh {

enum class Compression { Gzip, Zlib };
inline constexpr NamedValues<Compression, 2> compressions{
    {{"gzip", Compression::Gzip}, {"zlib", Compression::Zlib}}};

/// The bytes that were compressed; of gzip, those of all its parts one after the other, as gunzip
/// gives them. Throws Error, which says what is wrong with them, and for more than 256 MiB: a
/// megabyte can be made to hold a gigabyte.
std::string inflated(std::string_view bytes, Compression compression);

}  // namespace zksh
