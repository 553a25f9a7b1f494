// TreeFile: a dump in a file or on standard input.
#include "tree/tree_file.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::string_view standard_input = "-";

int open_file(const std::string& name) {
  const int fd = open(with_home(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw ValueError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  return fd;
}

void require_free_input(const Context& cx) {
  if (cx.input == Input::Pipe)
    throw ValueError("the commands come from standard input; give a file name");
  if (cx.input == Input::Terminal)
    throw ValueError("standard input is the terminal; give a file name");
}

}  // namespace

TreeFile::TreeFile(const Context& cx, const std::string& name) {
  const bool input = name == standard_input;
  if (input) require_free_input(cx);
  const auto name_in_messages = input ? std::string("standard input") : name;
  lines_ = std::make_unique<LineReader>(input ? STDIN_FILENO : open_file(name), !input,
                                        name_in_messages, cx.stop);
  reader_ = std::make_unique<TreeReader>(
      [this, stop = cx.stop](std::string& line) {
        const bool more = lines_->next(line);
        if (!more && stop.stop_requested()) throw Cancelled();
        return more;
      },
      name_in_messages);
}

std::optional<std::size_t> checked_size(const Context& cx, const std::string& name) {
  if (name == standard_input) return std::nullopt;
  {
    const Fd fd(open_file(name));
    struct stat about {};
    if (fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  }
  TreeFile file(cx, name);
  std::size_t nodes = 0;
  while (file.reader().next()) ++nodes;
  return nodes;
}

}  // namespace zksh
