// Parents: creates missing nodes, and the missing parents of a node.
#include "node/parents.h"

#include "base/mapped.h"
#include "base/words.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/read_ahead.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {

std::vector<std::string> missing_parents(Client& client, const std::string& path,
                                         const std::stop_token& stop) {
  client.await_connection(path, stop);
  std::vector<ReadAhead<Stat>> above;
  for (auto parent = parent_path(path); parent != "/"; parent = parent_path(parent))
    above.push_back(ahead_exists(client, std::string(parent)));
  std::vector<std::string> missing;
  for (auto& parent : above) {
    if (parent.found(stop)) break;
    missing.push_back(parent.path());
  }
  std::ranges::reverse(missing);
  return missing;
}

void require_parent(Client& client, const std::string& path, const std::stop_token& stop) {
  client.await_connection(path, stop);
  auto parent = ahead_exists(client, std::string(parent_path(path)));
  require_parent(parent, path, stop);
}

void require_parent(ReadAhead<Stat>& parent, const std::string& path, const std::stop_token& stop) {
  if (parent.found(stop)) return;
  // That is the chroot's node, which only the user creates.
  if (parent.path() == "/") throw ZkError(code::no_node, path);
  throw ZkError(ZkError(code::no_node, parent.path()),
                fmt::format(" (`create -p {}` creates it)", as_word(parent.path())));
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
  await_parents(client, start_parents(client, path, stop), stop);
}

NewParents start_parents(Client& client, const std::string& path, const std::stop_token& stop) {
  return mapped(missing_parents(client, path, stop), [&](const std::string& parent) {
    return std::pair(parent, client.start_create({.path = parent, .data = std::nullopt}));
  });
}

void await_parents(Client& client, const NewParents& sent, const std::stop_token& stop) {
  for (const auto& [path, creation] : sent) {
    try {
      client.written(creation, path, 0, stop);
    } catch (const ZkError& error) {
      if (error.code() != code::node_exists) throw;
    }
  }
}

}  // namespace zksh
