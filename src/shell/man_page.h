// Man page: the manual pages; their frames are written by hand, the lists of zksh(1) derived from
// the declarations.
#pragma once

#include "command/options.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The page: `frame` (man macros) with its lines @OPTIONS@, @GROUPS@, @COMMANDS@,
/// @KEYS@, @JSON_FIELDS@, @JSON_OBJECTS@ and @JSON_COMMANDS@ replaced by zksh's own options, the
/// commands in their groups, the description of each command, the keys of the configuration, and
/// what stands in json_fields.h. Lines that four blanks indent are shown as they are.
std::string man_page(std::string_view frame, const std::vector<Argument>& process_options);

/// A text as roff shows it, to the letter: on a line of its own or within one.
std::string roff(std::string_view text);

}  // namespace zksh
