// Home: the user's directory in the names of files.
#include "base/home.h"

#include <cstdlib>

namespace zksh {

std::string with_home(std::string name) {
  const char* const home = std::getenv("HOME");
  if (home && name.starts_with("~/")) name.replace(0, 1, home);
  return name;
}

}  // namespace zksh
