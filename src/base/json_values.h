// JsonValues: reads JSON value by value, without keeping it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Is told each value that is neither object nor array, in their order: where it stands (keys, and
/// numbers within arrays: {"connections", "0", "session_id"}) and its text; nothing for null.
/// Numbers are as they were written.
using UseJsonValue =
    std::function<void(const std::vector<std::string>& place, const std::optional<std::string>&)>;

/// Whether the text is JSON in UTF-8 that is nowhere deeper than eight levels; what is wrong
/// further on does not undo what was told before it.
bool read_json_values(std::string_view text, const UseJsonValue& use);

}  // namespace zksh
