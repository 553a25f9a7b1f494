// ShortText: paths and names made shorter for people, without losing what tells them apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zksh {

/// The text if it fits, else with short guids if it then fits, else its beginning and its end with
/// `mark` between them: the end of a path or of a sequential node's name says more than its middle.
/// Never wider than `columns`, never cut within a character. The text must already be escaped for a
/// terminal.
std::string cut_middle(std::string_view text, std::size_t columns, std::string_view mark = "…");

/// The text with the first eight digits and `mark` for each guid in it, as 8-4-4-4-12 or as 32
/// hexadecimal digits: "/l/_c_8fedd093…-lock-0000000004".
std::string with_short_guids(std::string_view text, std::string_view mark = "…");

}  // namespace zksh
