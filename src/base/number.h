// Number: parses and formats numbers, sizes and ids, strictly.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace zksh {

/// Parses a whole text as a number: digits, after a minus sign if the type is signed. nullopt for
/// any other text, or a number out of range.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number, base);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return number;
}
/// As number_in, but also allows a plus sign, as Java's Long.parseLong does.
template <class Number>
std::optional<Number> java_number_in(std::string_view text, int base = 10) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return number_in<Number>(text, base);
}

/// Whether the word is a decimal number of any size, with an optional sign.
bool is_number(std::string_view word);
/// Whether the word begins with a digit, or a sign and a digit.
bool begins_as_number(std::string_view word);

/// Parses a decimal number from `min` to `max`. Throws UsageError, naming `what` and the word.
std::int64_t parse_number(std::string_view word, std::string_view what, std::int64_t min,
                          std::int64_t max);

/// "1 node", "2 nodes".
std::string counted(std::size_t count, std::string_view noun);
/// "1 node was", "2 nodes were".
std::string counted_were(std::size_t count, std::string_view noun);
/// "34 B", "1.2 KiB", "5.0 MiB".
std::string size_text(std::int64_t bytes);
/// A decimal number at the beginning of a text, and what follows it.
struct LeadingDecimal {
  double number = 0;
  std::string_view rest;
};
/// Parses "12", "1.5" or "3e-4"; nullopt if the text begins with none of these. Does not use
/// std::from_chars, with which every start of zksh would load the math library.
std::optional<LeadingDecimal> leading_decimal(std::string_view text);
/// Parses "100", "10k", "1.5M", "2G" or "10KiB"; returns bytes. Units are powers of 1024. Throws
/// ValueError, naming `what`.
std::int64_t parse_size(std::string_view text, std::string_view what);

/// A zxid or session in hexadecimal, without 0x, as zxid_text writes it; nullopt for any other
/// text.
std::optional<std::int64_t> id_in(std::string_view digits);
/// "0x1f"; a negative value as its two's complement, as Java's Long.toHexString does.
std::string zxid_text(std::int64_t zxid);
/// The epoch of a zxid, 3 for 0x300000005, and its counter, 5.
inline std::int64_t epoch_of(std::int64_t zxid) { return zxid >> 32U; }
inline std::int64_t counter_of(std::int64_t zxid) { return zxid & 0xffffffff; }
/// Whether a zxid is the first of a later epoch than that of another.
inline bool begins_epoch_after(std::int64_t zxid, std::int64_t other) {
  return epoch_of(zxid) > epoch_of(other) && counter_of(zxid) == 1;
}
/// As servers write it: "0x100000abc"; "-" for 0.
std::string session_text(std::int64_t session);

}  // namespace zksh
