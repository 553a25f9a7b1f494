// Text width: how many columns of a terminal a text takes, and cutting it to fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zksh {

/// The columns of a text without control characters, in UTF-8 whatever the locale says. Bytes that
/// are no UTF-8 count one each. From any thread.
std::size_t text_width(std::string_view text);

/// The text itself when it fits, else its beginning and the mark that stands for the rest. Never
/// wider than `columns`; never cut within a character.
std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view mark = "…");

}  // namespace zksh
