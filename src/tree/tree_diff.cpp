// TreeDiff: what differs between two subtrees.
#include "tree/tree_diff.h"

#include "tree/tree_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
namespace {

using Kind = TreeDifference::Kind;

constexpr std::size_t excerpt_bytes = 24;

std::string shown_path(const std::string& path) { return path.empty() ? "/" : path; }

/// A piece of the data from a position on, as it stands in a dump.
std::string excerpt(const Data& data, std::size_t from) {
  if (!data) return "null";
  auto end = std::min(data->size(), from + excerpt_bytes);
  // No cut inside of a character.
  while (end < data->size() && end > from + excerpt_bytes - 4 &&
         (static_cast<unsigned char>((*data)[end]) & 0xC0U) == 0x80U)
    --end;
  return fmt::format("{}\"{}\"{}", from > 0 ? "…" : "",
                     escaped_field(std::string_view(*data).substr(from, end - from)),
                     end < data->size() ? "…" : "");
}

TreeDifference data_difference(const TreeRecord& a, const TreeRecord& b) {
  TreeDifference difference{.kind = Kind::InData, .path = shown_path(a.path)};
  std::size_t at = 0;
  if (a.data && b.data) {
    at = static_cast<std::size_t>(std::ranges::mismatch(*a.data, *b.data).in1 - a.data->begin());
    difference.at = at;
  }
  if (a.data) difference.a_bytes = a.data->size();
  if (b.data) difference.b_bytes = b.data->size();
  // A few bytes that are the same say where it is.
  constexpr std::size_t before = 6;
  auto from = at > before ? at - before : 0;
  while (from > 0 && a.data && (static_cast<unsigned char>((*a.data)[from]) & 0xC0U) == 0x80U)
    --from;
  difference.a = excerpt(a.data, from);
  difference.b = excerpt(b.data, from);
  return difference;
}

void compare(const TreeRecord& a, const TreeRecord& b,
             const std::function<void(const TreeDifference&)>& told) {
  const auto path = shown_path(a.path);
  if (!agree(a.life, b.life))
    told({.kind = Kind::InLife, .path = path, .a = life_text(a.life), .b = life_text(b.life)});
  if (a.acl != b.acl)
    told({.kind = Kind::InAcl, .path = path, .a = acl_field(a.acl), .b = acl_field(b.acl)});
  if (a.limits != b.limits)
    told({.kind = Kind::InQuota,
          .path = path,
          .a = limits_text(a.limits),
          .b = limits_text(b.limits)});
  if (a.data != b.data) told(data_difference(a, b));
}

std::string size_note(const std::optional<std::size_t>& bytes) {
  if (!bytes) return "";
  return fmt::format("{} byte{} ", *bytes, *bytes == 1 ? "" : "s");
}

}  // namespace

std::string_view difference_name(Kind kind) {
  switch (kind) {
    case Kind::OnlyInA:
      return "onlyInA";
    case Kind::OnlyInB:
      return "onlyInB";
    case Kind::InLife:
      return "kind";
    case Kind::InAcl:
      return "acl";
    case Kind::InQuota:
      return "quota";
    case Kind::InData:
      break;
  }
  return "data";
}

std::string difference_text(const TreeDifference& difference) {
  const auto path = escaped_field(difference.path);
  switch (difference.kind) {
    case Kind::OnlyInA:
      return "< " + path;
    case Kind::OnlyInB:
      return "> " + path;
    case Kind::InData:
      return fmt::format("! {}\tdata: {}{} | {}{}{}", path, size_note(difference.a_bytes),
                         difference.a, size_note(difference.b_bytes), difference.b,
                         difference.at ? fmt::format(" (from byte {} on)", *difference.at) : "");
    default:
      return fmt::format("! {}\t{}: {} | {}", path, difference_name(difference.kind),
                         difference.a.empty() ? "none" : difference.a,
                         difference.b.empty() ? "none" : difference.b);
  }
}

void compare_trees(const RecordStream& a, const RecordStream& b,
                   const std::function<void(const TreeDifference&)>& told) {
  auto left = a();
  auto right = b();
  while (left || right) {
    if (left && (!right || stands_before(left->path, right->path))) {
      told({.kind = Kind::OnlyInA, .path = shown_path(left->path)});
      left = a();
    } else if (right && (!left || stands_before(right->path, left->path))) {
      told({.kind = Kind::OnlyInB, .path = shown_path(right->path)});
      right = b();
    } else {
      compare(*left, *right, told);
      left = a();
      right = b();
    }
  }
}

}  // namespace zksh
