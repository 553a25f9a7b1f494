// Text forms of bytes: base64 and hex dumps.
#include "base/byte_text.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace zksh {
namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string dump_row(std::size_t offset, std::string_view row) {
  constexpr std::size_t columns = 16;
  std::string line = fmt::format("|{:08x}|", offset);
  std::string characters;
  for (const char c : row) {
    const auto byte = static_cast<unsigned char>(c);
    line += fmt::format(" {:02x}", byte);
    characters += byte > 0x1F && byte < 0x7F ? c : '.';
  }
  line.append(3 * (columns - row.size()), ' ');
  characters.append(columns - row.size(), ' ');
  return line + " |" + characters + "|\n";
}

}  // namespace

void in_pieces(std::string_view text, const UsePiece& use) {
  constexpr std::size_t most = 1U << 20U;
  while (text.size() > most) {
    const auto end = character_begin(text, most);
    use(text.substr(0, end));
    text.remove_prefix(end);
  }
  if (!text.empty()) use(text);
}

void encode_base64(std::string_view bytes, const UsePiece& use) {
  constexpr std::size_t most = 3U << 18U;  // whole groups
  for (; bytes.size() > most; bytes.remove_prefix(most)) use(encode_base64(bytes.substr(0, most)));
  use(encode_base64(bytes));
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto group = bytes.substr(at, 3);
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = (bits << 8U) | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= group.size() ? base64_digits[(bits >> (18 - 6 * i)) & 0x3FU] : '=';
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  const auto size = std::min(text.find('='), text.size());
  const auto padding = text.substr(size);
  const auto left_over = size % 4;  // digits in the last, incomplete group
  if (left_over == 1) return std::nullopt;
  if (!padding.empty() &&
      (left_over == 0 || padding != std::string_view("==").substr(left_over - 2)))
    return std::nullopt;

  std::string bytes;
  bytes.reserve(size / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned bit_count = 0;
  for (const char c : text.substr(0, size)) {
    const auto value = base64_digits.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes += static_cast<char>((bits >> bit_count) & 0xFFU);
    }
  }
  return bytes;
}

std::string escape_bytes(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    const auto character = text.substr(at, step.length);
    at += step.length;
    if (step.valid)
      escaped += character;
    else
      for (const char byte : character)
        escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return escaped;
}

void hex_dump(std::string_view bytes, const UsePiece& use) {
  constexpr std::size_t most = 1U << 20U;
  if (bytes.empty()) return;
  constexpr std::string_view border =
      "+--------+-------------------------------------------------+----------------+";
  std::string text =
      "         +-------------------------------------------------+\n"
      "         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |\n";
  text += border;
  text += '\n';
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    text += dump_row(at, bytes.substr(at, 16));
    if (text.size() < most) continue;
    use(text);
    text.clear();
  }
  text += border;
  use(text);
}

}  // namespace zksh
