// Id text: zxids and session ids, as ZooKeeper writes them.
#include "base/id_text.h"

#include <fmt/core.h>

namespace zksh {

std::string zxid_text(std::int64_t zxid) {
  return fmt::format("0x{:x}", static_cast<std::uint64_t>(zxid));
}

std::string session_text(std::int64_t session) { return session == 0 ? "-" : zxid_text(session); }

}  // namespace zksh
