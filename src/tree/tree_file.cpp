// TreeFile: a dump in a file or on standard input.
#include "tree/tree_file.h"

#include "base/error.h"
#include "base/fd.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zksh {
namespace {

bool is_standard_input(const std::string& name) { return name == "-"; }

std::string shown_name(const std::string& name) {
  return is_standard_input(name) ? "standard input" : name;
}

/// Returns the descriptor.
int open_file(const std::string& name) {
  const int fd = open(with_home(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw ValueError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  return fd;
}

int open_input(const Context& cx, const std::string& name) {
  if (!is_standard_input(name)) return open_file(name);
  if (cx.input == Input::Pipe)
    throw ValueError("the commands come from standard input; give a file name");
  if (cx.input == Input::Terminal)
    throw ValueError("standard input is the terminal; give a file name");
  return STDIN_FILENO;
}

}  // namespace

TreeFile::TreeFile(const Context& cx, const std::string& name)
    : lines_(open_input(cx, name), !is_standard_input(name), shown_name(name), cx.stop),
      reader_(
          [this, stop = cx.stop](std::string& line) {
            const bool more = lines_.next(line);
            if (!more && stop.stop_requested()) throw Cancelled();
            return more;
          },
          shown_name(name)) {}

std::optional<std::size_t> checked_size(const Context& cx, const std::string& name) {
  if (is_standard_input(name)) return std::nullopt;
  {
    const Fd fd(open_file(name));
    struct stat about {};
    if (fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  }
  TreeFile file(cx, name);
  std::size_t nodes = 0;
  while (file.next()) ++nodes;
  return nodes;
}

}  // namespace zksh
