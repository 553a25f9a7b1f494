// Byte text: bytes as base64, hexadecimal digits and hex dumps.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// RFC 4648 with padding, in one line.
std::string encode_base64(std::string_view bytes);

/// As strict as java.util.Base64's basic decoder: the standard alphabet alone, no white space;
/// padding is complete or left out; surplus bits are ignored. No value for anything else.
std::optional<std::string> decode_base64(std::string_view text);

/// Lower-case digits, two a byte.
std::string encode_hex(std::string_view bytes);

/// Digits of either case, two a byte, with white space between bytes as one likes. No value for
/// anything else.
std::optional<std::string> decode_hex(std::string_view text);

/// The table of netty's ByteBufUtil.prettyHexDump, which zkCli.sh prints for `get -x`; without a
/// newline after its last line, and empty for no bytes.
std::string hex_dump(std::string_view bytes);

}  // namespace zksh
