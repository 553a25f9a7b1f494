// Number: numbers, sizes and ids, read strictly and shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zksh {

/// Whether a word is a decimal number with an optional sign, of any size.
bool is_number(std::string_view word);
/// Whether a word begins as a number does: with a digit, behind a sign or not.
bool begins_as_number(std::string_view word);

/// A decimal number of the given range, else UsageError naming `what` and the word.
std::int64_t parse_number(std::string_view word, std::string_view what, std::int64_t min,
                          std::int64_t max);

/// "34 B", "1.2 KiB", "5.0 MiB".
std::string size_text(std::int64_t bytes);
/// "100", "10k", "1.5M", "2G" and "10KiB": bytes, in units of 1024. Throws ValueError naming
/// `what`.
std::int64_t parse_size(std::string_view text, std::string_view what);

/// "0x1f"; of a negative value its two's complement, as Java's Long.toHexString.
std::string zxid_text(std::int64_t zxid);
/// As servers write it: "0x100000abc"; "-" for none.
std::string session_text(std::int64_t session);

}  // namespace zksh
