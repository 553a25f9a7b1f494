// Text forms of bytes: base64 and hex dumps, as a whole or piece by piece.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// Called with each piece of a long text in turn.
using UsePiece = std::function<void(std::string_view piece)>;
/// Calls `use` for each MiB of a text, without splitting a UTF-8 character.
void in_pieces(std::string_view text, const UsePiece& use);

/// RFC 4648, padded, without line breaks.
std::string encode_base64(std::string_view bytes);
void encode_base64(std::string_view bytes, const UsePiece& use);

/// As strict as java.util.Base64's basic decoder: only the standard alphabet, no white space; the
/// padding may be left out, but not cut short; surplus bits are ignored. nullopt if the text is
/// anything else.
std::optional<std::string> decode_base64(std::string_view text);

/// The text with \xHH for each byte that is not UTF-8.
std::string escape_bytes(std::string_view text);

/// The table of netty's ByteBufUtil.prettyHexDump, which zkCli.sh prints for `get -x`. No newline
/// after the last line; nothing if there are no bytes.
void hex_dump(std::string_view bytes, const UsePiece& use);

}  // namespace zksh
