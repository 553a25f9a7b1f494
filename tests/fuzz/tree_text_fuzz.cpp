// Fuzzes the parsing of dumps in both formats: what is accepted can be written in both, and read
// back.
#include "client/node_path.h"
#include "fuzz.h"
#include "tree/tree_text.h"

namespace zksh::fuzz {
namespace {

struct Tree {
  std::string top;
  std::vector<TreeRecord> records{};
};

Tree read(std::string_view text) {
  Input input(text);
  TreeReader reader(
      [&](std::string& line) {
        if (input.rest().empty()) return false;
        line = input.line();
        return true;
      },
      "f");
  Tree tree{.top = reader.top()};
  while (auto record = reader.next()) tree.records.push_back(std::move(*record));
  return tree;
}

std::string written(TreeFormat format, const Tree& tree) {
  auto text = tree_header(format, tree.top);
  for (const auto& record : tree.records) text += tree_line(format, record);
  return text + tree_end(format, 0);
}

}  // namespace

void tree_text_fuzz(std::string_view bytes) {
  accepts([&] {
    const auto tree = read(bytes);
    require(!path_flaw(tree.top) && !tree.records.empty() && tree.records.front().path.empty(),
            "a tree has a top");
    for (const auto& record : tree.records)
      require(!path_flaw(path_below(tree.top, record.path)), "paths are valid", record.path);
    const auto text = written(TreeFormat::Text, tree);
    const auto json = written(TreeFormat::JsonLines, tree);
    for (const auto& each : {text, json}) {
      bool again = false;
      const bool whole = accepts([&] {
        const auto other = read(each);
        again = written(TreeFormat::Text, other) == text &&
                written(TreeFormat::JsonLines, other) == json;
      });
      require(whole, "what is written can be read", each);
      require(again, "what is written reads back", each);
    }
    std::string fields = text;
    std::ranges::replace(fields, '\t', ' ');
    require_harmless(fields, true);
  });
}

}  // namespace zksh::fuzz
