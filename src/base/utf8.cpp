// Utf8: decoding and writing single code points, strict as RFC 3629.
#include "base/utf8.h"

namespace zksh {
namespace {

struct Lead {
  std::size_t length;  ///< 0: not the first byte of a sequence
  unsigned bits;
  unsigned smallest;  ///< below it the form is overlong
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80U) return {1, byte, 0};
  if (byte >= 0xC2U && byte < 0xE0U) return {2, byte & 0x1FU, 0x80};
  if (byte >= 0xE0U && byte < 0xF0U) return {3, byte & 0x0FU, 0x800};
  if (byte >= 0xF0U && byte < 0xF5U) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace

Utf8Step decode_utf8(std::string_view text, std::size_t position) {
  const Utf8Step bad{0xFFFD, 1, false};
  const auto lead = lead_of(static_cast<unsigned char>(text[position]));
  if (lead.length == 0 || text.size() - position < lead.length) return bad;
  unsigned value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const unsigned byte = static_cast<unsigned char>(text[position + i]);
    if ((byte & 0xC0U) != 0x80U) return bad;
    value = (value << 6U) | (byte & 0x3FU);
  }
  if (value < lead.smallest || value > 0x10FFFFU || (value >= 0xD800U && value <= 0xDFFFU)) {
    return bad;
  }
  return {static_cast<char32_t>(value), lead.length, true};
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&text](unsigned byte) { text.push_back(static_cast<char>(byte)); };
  const auto value = static_cast<unsigned>(code_point);
  if (value < 0x80U) {
    put(value);
  } else if (value < 0x800U) {
    put(0xC0U | (value >> 6U));
    put(0x80U | (value & 0x3FU));
  } else if (value < 0x10000U) {
    put(0xE0U | (value >> 12U));
    put(0x80U | ((value >> 6U) & 0x3FU));
    put(0x80U | (value & 0x3FU));
  } else {
    put(0xF0U | (value >> 18U));
    put(0x80U | ((value >> 12U) & 0x3FU));
    put(0x80U | ((value >> 6U) & 0x3FU));
    put(0x80U | (value & 0x3FU));
  }
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    if (!step.valid) return false;
    at += step.length;
  }
  return true;
}

}  // namespace zksh
