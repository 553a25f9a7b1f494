// LockPicture: formats a lock's queue: a table, and chains of who waits for whom.
#pragma once

#include "base/json.h"
#include "lock/view.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

struct PictureStyle {
  std::size_t columns = 0;  ///< available width; 0: no limit
  std::size_t lines = 0;    ///< available height; 0: no limit
  bool ascii = false;       ///< use ASCII only
  std::int64_t now = 0;     ///< the time of the picture, in milliseconds since 1970
};

/// The lines of the picture, escaped for a terminal. Every contender has a line, if `lines` allows.
/// Columns that do not fit are left out, the least important first; number, state, whom it waits
/// for and the beginning of the owner stay.
std::vector<std::string> lock_picture(const LockView& view, const PictureStyle& style);
/// Who waits for whom: "#1 ◄ {#2 #3} ◄ #4", where each waits for one on its left. A line for each
/// contender that others wait for and that itself waits for nobody; joint holders share one.
std::vector<std::string> lock_chains(const LockView& view, const PictureStyle& style);
/// A line per contender, with tab-separated, escaped fields: number, state, mode, library, session,
/// address, creation time, token, whom it waits for, who watches it, first node, owner.
std::vector<std::string> plain_lock(const LockView& view);
/// The help of `locks` describes the fields.
Json lock_json(const LockView& view, const PictureStyle& style);

}  // namespace zksh
