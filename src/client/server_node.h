// ServerNode: a word that names a node of another server.
#pragma once

#include <optional>
#include <string>

namespace zksh {

struct ServerNode {
  std::string hosts;  ///< "HOST:PORT,…"
  std::string path;   ///< "/…"
};

/// Splits zk://HOST:PORT,…/path. The zk:// is optional before a host with a port.
std::optional<ServerNode> server_node(const std::string& word);

}  // namespace zksh
