// NameList: sorts a list in a way that a stop can end.
#include "base/name_list.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>

namespace zksh {

void NameList::sort(const std::stop_token& stop) {
  // A long list takes a second, too long to ignore Ctrl-C.
  constexpr std::uint32_t between_looks = 4096;
  std::uint32_t compared = 0;
  const char* bytes = bytes_.c_str();
  std::ranges::sort(begins_, [&](std::uint32_t a, std::uint32_t b) {
    if (++compared % between_looks == 0 && stop.stop_requested()) throw Cancelled();
    return std::strcmp(bytes + a, bytes + b) < 0;
  });
}

}  // namespace zksh
