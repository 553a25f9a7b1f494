// Node patterns: finds the nodes that match a path with *, ? and [ ].
#include "client/node_pattern.h"

#include "client/client.h"
#include "client/node_path.h"
#include "client/work_limits.h"

#include <algorithm>
#include <fnmatch.h>

namespace zksh {
namespace {

/// False if the code means that there is nothing to find; other errors are thrown.
bool found(int result, const std::string& path) {
  if (result == code::ok) return true;
  if (result == code::no_node || result == code::no_auth) return false;
  throw ZkError(result, path);
}

std::vector<std::string> children_matching(Client& client, const std::vector<std::string>& parents,
                                           const std::string& pattern,
                                           const std::stop_token& stop) {
  std::vector<std::string> matches;
  ask_in_order(
      parents, window_of(client),
      [&](const std::string& path) { return client.start_children(path, Watch::none()); },
      [&](const std::string& path, const Pending<Children>& pending) {
        const auto answer = client.await(pending, stop);
        if (!found(answer.code, path)) return true;
        for (const auto& name : answer.value.names)
          if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
            matches.push_back(join_path(path, name));
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
        if (found(client.await(pending, stop).code, path)) nodes.push_back(path);
        return true;
      });
  return nodes;
}

}  // namespace

bool is_pattern(std::string_view path) {
  return path.find_first_of("*?[") != std::string_view::npos;
}

std::vector<std::string> matching_nodes(Client& client, const std::string& pattern,
                                        const std::stop_token& stop) {
  client.await_connection(pattern, stop);
  std::vector<std::string> nodes{"/"};
  bool sure = true;  // whether the nodes are known to exist
  for (std::size_t at = 1; at < pattern.size();) {
    const auto end = std::min(pattern.find('/', at), pattern.size());
    const auto name = pattern.substr(at, end - at);
    if (is_pattern(name)) {
      nodes = children_matching(client, nodes, name, stop);
      sure = true;
    } else {
      for (auto& node : nodes) node = join_path(node, name);
      sure = false;
    }
    at = end + 1;
  }
  if (!sure) nodes = existing(client, nodes, stop);
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace zksh
