// ValueChange: a node's value read, changed, and written if nobody else wrote meanwhile.
#include "node/value_change.h"

namespace zksh {

std::optional<Stat> change_value(Client& client, const std::string& path,
                                 const std::function<std::optional<Data>(const Node&)>& decide,
                                 const std::stop_token& stop) {
  while (true) {
    const auto node = client.get(path, Watch::none(), stop);
    const auto wanted = decide(node);
    if (!wanted) return std::nullopt;
    try {
      return client.set({.path = path, .data = *wanted, .version = node.stat.version}, stop);
    } catch (const ZkError& error) {
      if (error.code() != code::bad_version) throw;
    }
  }
}

}  // namespace zksh
