// Parents: creates missing nodes, and the missing parents of a node.
#include "node/parents.h"

#include "base/quoting.h"
#include "client/node_path.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {

std::vector<std::string> missing_parents(Client& client, const std::string& path,
                                         const std::stop_token& stop) {
  std::vector<std::string> missing;
  for (std::string parent(parent_path(path));
       parent != "/" && !client.exists(parent, Watch::none(), stop);
       parent = std::string(parent_path(parent)))
    missing.push_back(parent);
  std::ranges::reverse(missing);
  return missing;
}

void require_parent(Client& client, const std::string& path, const std::stop_token& stop) {
  const std::string parent(parent_path(path));
  if (client.exists(parent, Watch::none(), stop)) return;
  if (parent == "/") throw ZkError(code::no_node, path);  // the chroot's: only its user creates it
  throw ZkError(ZkError(code::no_node, parent),
                fmt::format(" (`create -p {}` creates it)", as_word(parent)));
}

bool create_if_missing(Client& client, const CreateOp& op, const std::stop_token& stop) {
  try {
    client.create(op, stop);
    return true;
  } catch (const ZkError& error) {
    if (error.code() != code::node_exists) throw;
    return false;
  }
}

void create_parents(Client& client, const std::string& path, const std::stop_token& stop) {
  for (const auto& parent : missing_parents(client, path, stop))
    create_if_missing(client, {.path = parent, .data = std::nullopt}, stop);
}

}  // namespace zksh
