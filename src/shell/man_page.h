// Man page: generates the manual pages from hand-written frames and the declarations.
#pragma once

#include "command/options.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The page: `frame` (man macros) with its lines @OPTIONS@, @GROUPS@, @COMMANDS@, @KEYS@,
/// @JSON_FIELDS@, @JSON_OBJECTS@ and @JSON_COMMANDS@ replaced by zksh's own options, the commands
/// in groups, each command's description, the configuration keys, and the contents of
/// json_fields.h. Lines indented by four blanks are shown verbatim.
std::string man_page(std::string_view frame, const std::vector<Argument>& process_options);

/// Escapes a text so that roff shows it verbatim, on a line of its own or within one.
std::string roff(std::string_view text);

}  // namespace zksh
