// ContentionDrawing: a time line of a contention for the terminal: who waited, who held, when.
#pragma once

#include "lock/contention.h"

#include <cstddef>
#include <string>
#include <vector>

namespace zksh {

struct DrawingStyle {
  std::size_t columns = 80;
  std::size_t rows = 20;  ///< for contenders; of more, some are left out, evenly
  bool ascii = false;     ///< the terminal has no UTF-8
};

/// A row for each contender, a scale, and what the signs mean; lines no wider than the columns.
std::vector<std::string> draw_contention(const ContentionResult& result, std::size_t contenders,
                                         const DrawingStyle& style);

}  // namespace zksh
