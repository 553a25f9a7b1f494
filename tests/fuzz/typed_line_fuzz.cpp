// Fuzzes what runs at each keystroke: colours, hint and completion of a line.
#include "fuzz.h"
#include "shell/complete.h"
#include "shell/typed_line.h"

namespace zksh::fuzz {
namespace {

/// Children with names as odd as servers allow.
Candidates children(const std::string& /*parent*/, const std::string& prefix) {
  Candidates found;
  for (const char* const name : {"a b", "app", "app\x1b[2J", "it's", "x;y", "\\n", "*"}) {
    if (!std::string_view(name).starts_with(prefix)) continue;
    found.common = found.first.empty() ? name : std::string(common_beginning(found.common, name));
    found.first.push_back({.text = name});
    ++found.count;
  }
  return found;
}

}  // namespace

void typed_line_fuzz(std::string_view bytes) {
  Input input(bytes);
  const std::size_t part = input.byte();
  const auto line = input.rest();
  const auto cursor = line.size() * part / 255;
  std::size_t last = 0;
  for (const auto& styled : line_styles(line, cursor)) {
    require(last <= styled.begin && styled.begin <= styled.end && styled.end <= line.size(),
            "styles stand one behind the other", line);
    last = styled.end;
  }
  line_hint(line, "");
  CompletionSources sources;
  sources.nodes = children;
  sources.held_locks = [] { return std::vector<std::string>{"/l 1", "/l2"}; };
  const auto completion = complete_line(line, cursor, sources);
  require(completion.begin <= cursor, "what is completed stands before the cursor", line);
  require(completion.list.size() <= completion.count, "no more is shown than there is");
  require_harmless(completion.text == line.substr(completion.begin, cursor - completion.begin)
                       ? std::string_view()
                       : std::string_view(completion.text));
}

}  // namespace zksh::fuzz
