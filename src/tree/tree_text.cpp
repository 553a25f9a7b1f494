// TreeText: a subtree as lines of text, written and read.
#include "tree/tree_text.h"

#include "base/error.h"
#include "client/node_path.h"
#include "tree/tree_fields.h"
#include "tree/tree_json.h"

#include <fmt/core.h>

#include <utility>

namespace zksh {
namespace {

std::string parse_text_header(std::string_view line) {
  const auto start = fmt::format("{}\t", tree_format);
  if (!line.starts_with(start)) throw ValueError("this is no text that `dump` made");
  const auto version = fmt::format("{}{}\t", start, tree_version);
  if (!line.starts_with(version))
    throw ValueError(
        fmt::format("its version is not {}, the one that this zksh knows", tree_version));
  return unescaped(line.substr(version.size()));
}

}  // namespace

std::string tree_header(TreeFormat format, const std::string& top) {
  if (format == TreeFormat::JsonLines) return tree_json_header(top);
  return fmt::format("{}\t{}\t{}\n", tree_format, tree_version, escaped_field(top));
}

std::string tree_line(TreeFormat format, const TreeRecord& record) {
  if (format == TreeFormat::JsonLines) return tree_json_line(record);
  auto line = record.path.empty() ? "/" : escaped_field(record.path);
  line += '\t';
  line += life_text(record.life);
  line += '\t';
  line += acl_field(record.acl);
  line += '\t';
  line += data_field(record.data);
  if (record.limits != no_limits) line += "\tquota:" + limits_text(record.limits);
  return line + '\n';
}

std::string tree_end(TreeFormat format, std::size_t ephemerals) {
  if (format == TreeFormat::JsonLines) return tree_json_end(ephemerals);
  if (ephemerals == 0) return "end\n";
  return fmt::format("# {} ephemeral node{} left out\nend\n", ephemerals,
                     ephemerals == 1 ? " was" : "s were");
}

TreeReader::TreeReader(NextLine next_line, std::string name)
    : next_line_(std::move(next_line)), name_(std::move(name)) {
  read_header();
  read_ahead();
}

void TreeReader::refuse(const std::string& flaw) const {
  throw ValueError(fmt::format("{}:{}: {}", name_, number_, flaw));
}

/// What the body refuses is said with its place.
template <class Body>
void TreeReader::placed(Body&& body) {
  try {
    body();
  } catch (const ValueError& error) {
    refuse(error.what());
  }
}

/// The next line that counts.
bool TreeReader::read_line() {
  do {
    if (!next_line_(line_)) return false;
    ++number_;
    if (line_.size() > longest_line)
      refuse(fmt::format("the line is longer than {} bytes", longest_line));
  } while (line_.empty() || line_.front() == '#');
  return true;
}

void TreeReader::read_header() {
  if (!read_line()) {
    ++number_;
    refuse("there is nothing in it; `dump` begins with a line that names its format");
  }
  placed([&] {
    if (line_.front() == '{') {
      format_ = TreeFormat::JsonLines;
      auto header = parse_tree_json(line_);
      if (!header.header)
        throw ValueError("the first line does not name the format, as that of `dump` does");
      top_ = std::move(header.top);
    } else {
      top_ = parse_text_header(line_);
    }
    check_path(top_);
  });
}

/// nullopt at the line that ends the text.
std::optional<TreeRecord> TreeReader::read_record() {
  if (!read_line())
    throw ValueError(fmt::format("{}: cut off behind line {}: the line that ends it is missing",
                                 name_, number_));
  std::optional<TreeRecord> record;
  placed([&] {
    if (format_ == TreeFormat::Text) {
      if (line_ != "end") record = parse_tree_line(line_);
      return;
    }
    auto parsed = parse_tree_json(line_);
    if (parsed.header) throw ValueError("a second beginning");
    record = std::move(parsed.record);
  });
  return record;
}

void TreeReader::check_order(const std::string& path) {
  if (!any_ && !path.empty()) refuse("the first node is not the top, /");
  const auto parent = path.substr(0, path.rfind('/'));
  if (any_ && !stands_before(last_path_, path))
    refuse(fmt::format("{} stands behind {}: nodes stand in the order of their names",
                       path.empty() ? "/" : escaped_field(path),
                       last_path_.empty() ? "/" : escaped_field(last_path_)));
  if (any_ && !is_within(last_path_, parent))
    refuse(fmt::format("{} has no parent", escaped_field(path)));
  any_ = true;
  last_path_ = path;
}

void TreeReader::read_ahead() {
  ahead_ = read_record();
  if (ahead_) return check_order(ahead_->path);
  ended_ = true;
  if (!any_) refuse("there is no node in it");
  if (read_line()) refuse("something stands behind the end");
}

std::optional<TreeRecord> TreeReader::next() {
  auto record = std::exchange(ahead_, std::nullopt);
  if (!ended_) read_ahead();
  return record;
}

}  // namespace zksh
