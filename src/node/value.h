// Value: a node's value as a user gives it on a command line.
#pragma once

#include "command/command.h"

#include <string>

namespace zksh {

/// The bytes that an argument stands for: `@FILE` the file's, `-` standard input's (both not on
/// piped input, where zkCli takes them as they are), `@@…` a text that begins with `@`, else the
/// text. May block while it reads. Throws Error naming the file.
std::string value_of(const Context& cx, const std::string& argument);

}  // namespace zksh
