// Fuzzes history expansion: the first line is typed, the others are the history.
#include "command/line_history.h"
#include "fuzz.h"

namespace zksh::fuzz {

void history_fuzz(std::string_view bytes) {
  Input input(bytes);
  const std::string typed(input.line());
  LineHistory history;
  for (const auto& line : input.lines(50)) {
    if (line.starts_with(' '))
      history.add_unkept();
    else
      history.add(line);
  }
  accepts([&] {
    const auto line = expand_history(typed, history);
    if (!line) return;
    const auto stands = [&](std::size_t number) {
      return line->find(history.at(number).text) != std::string::npos;
    };
    bool found = false;
    for (auto number = history.first(); number < history.next(); ++number)
      found = found || stands(number);
    require(found, "what a line stands for is a line of the history", *line);
  });
}

}  // namespace zksh::fuzz
