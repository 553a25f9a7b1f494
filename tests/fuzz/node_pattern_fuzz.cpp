// Fuzzes patterns of node paths, against a small tree.
#include "client/node_path.h"
#include "client/node_pattern.h"
#include "client/zk_error.h"
#include "fake_client.h"
#include "fuzz.h"

#include <array>

namespace zksh::fuzz {
namespace {

constexpr std::array<const char*, 9> paths{"/a",  "/a/b", "/a/b/c", "/a b", "/ab",
                                           "/a*", "/\\x", "/[a]",   "/漢字"};

}  // namespace

void node_pattern_fuzz(std::string_view bytes) {
  static FakeTree tree;
  static FakeClient client{tree};
  static const bool planted = [] {
    for (const auto* const path : paths) client.create({.path = path, .data = {}}, {});
    return true;
  }();
  static_cast<void>(planted);
  const auto pattern = absolute_path("/", bytes);
  // As on a command line: a path. The cost of a pattern is quadratic in its length.
  if (path_flaw(pattern) || pattern.size() > 300 || !is_pattern(pattern)) return;
  accepts([&] {
    const auto found = matching_nodes(client, pattern, {});
    require(std::ranges::is_sorted(found), "nodes are in the order of their bytes", pattern);
    require(std::ranges::adjacent_find(found) == found.end(), "each node is there once", pattern);
    for (const auto& path : found)
      require(client.exists(path, Watch::none(), {}).has_value(), "what matches is there", path);
  });
}

}  // namespace zksh::fuzz
