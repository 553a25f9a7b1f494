// Text columns: short texts side by side, as ls of a shell lists them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zksh {

/// How many of them stand side by side in so many columns of a terminal; one at least.
std::size_t texts_in_a_row(const std::vector<std::string>& texts, std::size_t columns);
/// The first `count` of the texts, from top to bottom and then from left to right, in lines that
/// end with a newline. They must be escaped for a terminal.
std::string in_text_columns(const std::vector<std::string>& texts, std::size_t count,
                            std::size_t columns);

}  // namespace zksh
