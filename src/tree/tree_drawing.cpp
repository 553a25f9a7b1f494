// TreeDrawing: draws a subtree as lines.
#include "tree/tree_drawing.h"

#include "base/number.h"
#include "base/words.h"
#include "command/screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zksh {

std::string TreeDrawing::indent(const TreeNode& node) {
  if (node.depth == 0) return "";
  last_.resize(node.depth);
  last_.back() = node.last;
  std::string text;
  for (std::size_t i = 0; i + 1 < last_.size(); ++i)
    text += last_[i] ? "    " : style_.ascii ? "|   " : "│   ";
  if (style_.ascii) return text + (node.last ? "`-- " : "|-- ");
  return text + (node.last ? "└── " : "├── ");
}

std::string TreeDrawing::remarks(const TreeNode& node) const {
  std::vector<std::string> all;
  const auto children = node.stat.num_children;
  if (node.stat.ephemeral_owner != 0) all.emplace_back("ephemeral");
  if (style_.sizes && node.stat_readable) all.push_back(size_text(node.stat.data_length));
  const bool unopened = node.depth == style_.depth || !node.readable;
  if (children > 0 && (style_.counts || unopened))
    all.push_back(children == 1 ? "1 child" : fmt::format("{} children", children));
  if (!node.readable || !node.stat_readable) all.emplace_back("not readable");
  return all.empty() ? "" : fmt::format("({})", fmt::join(all, ", "));
}

std::string TreeDrawing::line(const TreeNode& node) {
  ++nodes_;
  bytes_ += node.stat.data_length;
  const bool ephemeral = node.stat.ephemeral_owner != 0;
  if (ephemeral) ++ephemerals_;
  const auto name = node.depth == 0 ? node.path : node.path.substr(node.path.rfind('/') + 1);
  const auto tint = [&](const std::string& text, std::string_view color) {
    return style_.color && !text.empty() && !color.empty()
               ? fmt::format("{}{}{}", color, text, color::end)
               : text;
  };
  auto text = indent(node);
  text += tint(as_word(name), ephemeral                    ? color::ephemeral
                              : node.stat.num_children > 0 ? color::parent
                                                           : std::string_view());
  const auto remark = remarks(node);
  if (!remark.empty()) text += "  " + tint(remark, color::aside);
  return text;
}

std::string TreeDrawing::summary() const {
  auto text = fmt::format("{}, {} ephemeral", counted(nodes_, "node"), ephemerals_);
  if (style_.sizes) text += ", " + size_text(bytes_);
  return text;
}

}  // namespace zksh
