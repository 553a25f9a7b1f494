// LockCircle: sessions of which each waits for a lock of the next: none of them can go on.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zksh {

struct LockCircle {
  /// A session waits at a lock for the session of the next link; the last one for the first.
  struct Link {
    std::int64_t session = 0;
    std::string path;   ///< where it waits
    bool held = false;  ///< by the next one; else that is before it in the queue
    bool operator==(const Link&) const = default;
  };
  std::vector<Link> links;  ///< two or more
  bool operator==(const LockCircle&) const = default;
};

/// Of who waits at the first link: "its holder waits for /z, whose holder waits for /x, which this
/// shell holds: none of the three can go on".
std::string own_circle_text(const LockCircle& circle);
/// "circle: 0x1 waits at /x for 0x2, which waits at /y for 0x1: none of them can go on".
std::string circle_text(const LockCircle& circle);
/// The schema is in the help of `locks`.
Json circle_json(const LockCircle& circle);

}  // namespace zksh
