// ProcessTitle: the command line that others see of this process.
#include "base/process_title.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <unistd.h>

namespace zksh {
namespace {

std::span<char> all_room;
std::size_t words_room = 0;

/// The end of the strings that follow each other in memory from `begin` on.
char* end_of_strings(char* const* strings, char* begin) {
  for (; *strings == begin && begin != nullptr; ++strings) begin += std::strlen(begin) + 1;
  return begin;
}

}  // namespace

void remember_command_line(char** argv) {
  char* const begin = *argv;
  char* const words_end = end_of_strings(argv, begin);
  words_room = static_cast<std::size_t>(words_end - begin);
  all_room = {begin, end_of_strings(environ, words_end)};
}

// The kernel shows all of the words' room, or, if the last byte there is not zero, the text from
// its beginning to the first zero, in the room of the environment too (proc(5), setproctitle).
void replace_command_line(std::string_view text) {
  if (all_room.empty()) return;
  std::fill_n(all_room.begin(), words_room, '\0');
  const auto size = text.copy(all_room.data(), all_room.size() - 1);
  all_room[size] = '\0';
}

}  // namespace zksh
