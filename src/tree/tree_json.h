// TreeJson: a dump's lines as JSON.
#pragma once

#include "tree/tree_record.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

std::string tree_json_header(const std::string& top);
std::string tree_json_line(const TreeRecord& record);
std::string tree_json_end(std::size_t ephemerals);

/// What a line holds.
struct TreeJsonLine {
  bool header = false;
  std::string top{};  ///< of a header, as it stands there
  bool end = false;
  std::optional<TreeRecord> record{};  ///< when it is neither
};
/// Throws ValueError, without the place. Fields that it does not know count for nothing.
TreeJsonLine parse_tree_json(std::string_view line);

}  // namespace zksh
