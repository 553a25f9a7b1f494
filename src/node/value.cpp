// Value: a node's value as a user gives it on a command line.
#include "node/value.h"

#include "base/read_file.h"

#include <unistd.h>

namespace zksh {

std::string value_of(const Context& cx, const std::string& argument) {
  if (cx.input == Input::Pipe || argument.empty()) return argument;
  if (argument == "-" && cx.input != Input::Terminal)
    return read_all(STDIN_FILENO, "standard input");
  if (argument.front() != '@') return argument;
  const auto name = argument.substr(1);
  return name.starts_with('@') ? name : read_file(name);
}

}  // namespace zksh
