// Fuzzes node paths: a line for the current node, and one for the given path.
#include "base/text.h"
#include "client/node_path.h"
#include "fuzz.h"

namespace zksh::fuzz {

void node_path_fuzz(std::string_view bytes) {
  Input input(bytes);
  const auto given_base = input.line();
  const auto path = input.rest();
  const bool refused = !accepts([&] { check_path(path); });
  require(refused == path_flaw(path).has_value(), "a path is refused for its flaw", path);
  accepts([&] { check_path(path, true); });
  if (!refused) {
    require(absolute_path("/", path) == path, "a valid path stays as it is", path);
    require(path == "/" || join_path(parent_path(path), base_name(path)) == path,
            "a path is its parent and its name", path);
    require(path_flaw(parent_path(path)) == std::nullopt, "a parent is valid", path);
    require(escape_for_terminal(path, true).find('\n') == std::string::npos, "no line ends in it");
  }
  const auto base = path_flaw(given_base) ? std::string_view("/") : given_base;
  const auto absolute = absolute_path(base, path);
  require(path.empty() == absolute.empty(), "only an empty path stays empty", path);
  if (path.empty()) return;
  require(absolute.front() == '/', "it is absolute", absolute);
  require(absolute_path(base, absolute) == absolute, "to be absolute is to stay so", absolute);
  const auto framed = absolute + '/';
  require(framed.find("/./") == std::string::npos && framed.find("/../") == std::string::npos,
          "no dots are left", absolute);
}

}  // namespace zksh::fuzz
