// Id text: zxids and session ids, as ZooKeeper writes them.
#pragma once

#include <cstdint>
#include <string>

namespace zksh {

/// "0x1f"; of a negative value its two's complement, as Java's Long.toHexString.
std::string zxid_text(std::int64_t zxid);
/// As servers write it: "0x100000abc"; "-" for none.
std::string session_text(std::int64_t session);

}  // namespace zksh
