// Node patterns: finds the nodes that match a path with *, ? and [ ].
#include "client/node_pattern.h"

#include "client/client.h"
#include "client/node_path.h"
#include "client/work_limits.h"

#include <algorithm>
#include <clocale>
#include <fnmatch.h>
#include <optional>

namespace zksh {
namespace {

/// `hidden` is set to the first parent that may not be listed.
std::vector<std::string> children_matching(Client& client, const std::vector<std::string>& parents,
                                           const std::string& pattern, const std::stop_token& stop,
                                           std::optional<std::string>& hidden) {
  std::vector<std::string> matches;
  ask_in_order(
      parents, window_of(client),
      [&](const std::string& path) { return client.start_children(path, Watch::none()); },
      [&](const std::string& path, const Pending<Children>& pending) {
        const auto answer = client.await(pending, stop);
        if (answer.code == code::no_auth && !hidden)
          hidden = path;
        else if (answer.code != code::ok && answer.code != code::no_node &&
                 answer.code != code::no_auth)
          throw ZkError(answer.code, path);
        for (const auto& name : answer.value.names.strings())
          if (matches_pattern(pattern, name)) matches.push_back(join_path(path, name));
        return true;
      });
  return matches;
}

std::vector<std::string> existing(Client& client, const std::vector<std::string>& paths,
                                  const std::stop_token& stop) {
  std::vector<std::string> nodes;
  ask_in_order(
      paths, window_of(client),
      [&](const std::string& path) { return client.start_exists(path, Watch::none()); },
      [&](const std::string& path, const Pending<Stat>& pending) {
        const int result = client.await(pending, stop).code;
        // Servers since 3.8.4 and 3.9.2 hide a node's Stat, but not that there is the node.
        if (result == code::ok || result == code::no_auth)
          nodes.push_back(path);
        else if (result != code::no_node)
          throw ZkError(result, path);
        return true;
      });
  return nodes;
}

}  // namespace

bool is_pattern(std::string_view path) {
  return path.find_first_of("*?[") != std::string_view::npos;
}

bool matches_pattern(const std::string& pattern, const std::string& text, int flags) {
  const bool is_ascii = std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
  if (is_ascii) return fnmatch(pattern.c_str(), text.c_str(), flags) == 0;
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);  // for ever
  const auto before = uselocale(utf8);
  const int result = fnmatch(pattern.c_str(), text.c_str(), flags);
  uselocale(before);
  if (result == 0 || result == FNM_NOMATCH) return result == 0;
  return fnmatch(pattern.c_str(), text.c_str(), flags) == 0;  // not UTF-8: by bytes
}

std::vector<std::string> matching_nodes(Client& client, const std::string& pattern,
                                        const std::stop_token& stop) {
  client.await_connection(pattern, stop);
  std::vector<std::string> nodes{"/"};
  bool sure = true;  // whether the nodes are known to exist
  std::optional<std::string> hidden;
  for (std::size_t at = 1; at < pattern.size();) {
    const auto end = std::min(pattern.find('/', at), pattern.size());
    const auto name = pattern.substr(at, end - at);
    if (is_pattern(name)) {
      nodes = children_matching(client, nodes, name, stop, hidden);
      sure = true;
    } else {
      for (auto& node : nodes) node = join_path(node, name);
      sure = false;
    }
    at = end + 1;
  }
  if (!sure) nodes = existing(client, nodes, stop);
  if (nodes.empty() && hidden) throw ZkError(code::no_auth, *hidden);
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace zksh
