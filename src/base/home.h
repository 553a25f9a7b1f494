// Home: the user's directory in the names of files.
#pragma once

#include <string>

namespace zksh {

/// "~/x" with $HOME in the place of the ~; any other name, and all of them without a $HOME, as it
/// is.
std::string with_home(std::string name);

}  // namespace zksh
