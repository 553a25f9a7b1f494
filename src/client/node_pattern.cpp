// Node patterns: finds the nodes that match a path with *, ? and [ ].
#include "client/node_pattern.h"

#include "client/node_path.h"

#include <algorithm>
#include <deque>
#include <fnmatch.h>
#include <functional>

namespace zksh {
namespace {

/// Sends a request for each path, with a limited number in flight, and passes on the answers in
/// order.
template <class T>
void ask_all(Client& client, const std::vector<std::string>& paths,
             const std::function<Pending<T>(const std::string&)>& ask,
             const std::function<void(const std::string&, Outcome<T>)>& take,
             const std::stop_token& stop) {
  constexpr std::size_t window = 256;
  std::deque<Pending<T>> asked;
  std::size_t next = 0;
  for (const auto& path : paths) {
    while (next < paths.size() && asked.size() < window) asked.push_back(ask(paths[next++]));
    take(path, client.await(asked.front(), stop));
    asked.pop_front();
  }
}

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
  ask_all<Children>(
      client, parents,
      [&](const std::string& path) { return client.start_children(path, Watch::none()); },
      [&](const std::string& path, const Outcome<Children>& answer) {
        if (!found(answer.code, path)) return;
        for (const auto& name : answer.value.names)
          if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
            matches.push_back(join_path(path, name));
      },
      stop);
  return matches;
}

std::vector<std::string> existing(Client& client, const std::vector<std::string>& paths,
                                  const std::stop_token& stop) {
  std::vector<std::string> nodes;
  ask_all<Stat>(
      client, paths,
      [&](const std::string& path) { return client.start_exists(path, Watch::none()); },
      [&](const std::string& path, const Outcome<Stat>& answer) {
        if (found(answer.code, path)) nodes.push_back(path);
      },
      stop);
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
