// LockPicture: a lock's queue as people see it: a table, and the chain of who waits for whom.
#pragma once

#include "base/json.h"
#include "lock/lock_view.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// What a viewer has seen since it began to look.
struct LockChanges {
  std::int64_t since = 0;  ///< milliseconds since 1970
  std::size_t left = 0;    ///< contenders that are not there any more
  /// Watch events that the servers have sent because nodes, or lists of children, had changed, but
  /// for the viewer's own; of all nodes, since servers do not tell them apart.
  std::optional<ServersAccount::Events> events{};
};

struct PictureStyle {
  std::size_t columns = 0;  ///< what there is room for; 0: whatever is wanted
  std::size_t lines = 0;    ///< likewise
  bool ascii = false;       ///< no arrows and dots beyond ASCII
  std::int64_t now = 0;     ///< the time of the picture, in milliseconds since 1970
  std::optional<LockChanges> changes{};
};

/// The lines of the picture, escaped for a terminal. Every contender has its line, unless `lines`
/// forbids. Columns that find no room are left out, the least telling first; number, state and whom
/// it waits for stay, and so does the beginning of the owner.
std::vector<std::string> lock_picture(const LockView& view, const PictureStyle& style);
/// Who waits for whom: "#1 ◄ {#2 #3} ◄ #4": each on the right waits for one of the left. A line for
/// each that others wait for and that waits for nobody, holders together.
std::vector<std::string> lock_chains(const LockView& view, const PictureStyle& style);
/// One line a contender, its fields separated by tabs, escaped: number, state, mode, library,
/// session, address, creation time, token, whom it waits for, who watches it, first node, owner.
std::vector<std::string> plain_lock(const LockView& view);
/// The schema is in the help of `locks`.
Json lock_json(const LockView& view, const PictureStyle& style);

}  // namespace zksh
