// Fuzzes lines of JSON dumps, and the printing of JSON.
#include "base/json.h"
#include "base/text.h"
#include "fuzz.h"
#include "tree/tree_text.h"

namespace zksh::fuzz {

void tree_json_fuzz(std::string_view bytes) {
  accepts([&] {
    const auto line = parse_tree_json(bytes);
    require(!line.record || !line.top, "a line is one thing");
    if (!line.record) return;
    const auto text = tree_json_line(*line.record);
    const auto again = parse_tree_json(text);
    require(again.record && tree_json_line(*again.record) == text, "a line reads back", text);
  });
  auto object = Json::object();
  auto list = Json::array();
  list.add(bytes).add(bytes.size());
  object.set(is_utf8(bytes) ? bytes : "no UTF-8", std::move(list));
  const auto text = object.text();
  require(is_utf8(text) && text.find('\n') == std::string::npos, "JSON is one line of UTF-8", text);
}

}  // namespace zksh::fuzz
