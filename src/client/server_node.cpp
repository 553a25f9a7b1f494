// ServerNode: a word that names a node of another server.
#include "client/server_node.h"

#include <string_view>

namespace zksh {

std::optional<ServerNode> server_node(const std::string& word) {
  constexpr std::string_view mark = "zk://";
  const bool marked = word.starts_with(mark);
  const auto rest = marked ? word.substr(mark.size()) : word;
  const auto slash = rest.find('/');
  const auto hosts = rest.substr(0, slash);
  const bool port = hosts.find(':') != std::string::npos;
  if (hosts.empty() || (!marked && (!port || slash == std::string::npos))) return std::nullopt;
  return ServerNode{.hosts = hosts, .path = slash == std::string::npos ? "/" : rest.substr(slash)};
}

}  // namespace zksh
