// Operation: what a request changes, and what the servers answer to it.
#pragma once

#include "client/acl.h"
#include "client/zk_error.h"
#include "client/znode.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace zksh {

enum class CreateMode { Persistent, Ephemeral, Container };

struct CreateOp {
  std::string path;
  Data data;
  Acl acl = open_acl();
  CreateMode mode = CreateMode::Persistent;
  bool sequential = false;
  std::int64_t ttl = 0;  ///< milliseconds; 0: none. Persistent nodes only.
};
/// Whether a transaction can create it: no containers, and no nodes with a TTL (C client 3.8).
inline bool fits_multi(const CreateOp& op) {
  return op.mode != CreateMode::Container && op.ttl == 0;
}
struct RemoveOp {
  std::string path;
  std::int32_t version = -1;  ///< -1: any
};
struct SetOp {
  std::string path;
  Data data;
  std::int32_t version = -1;  ///< -1: any
};
struct CheckOp {
  std::string path;
  std::int32_t version = -1;  ///< -1: the node exists
};
using Op = std::variant<CreateOp, RemoveOp, SetOp, CheckOp>;

struct Created {
  std::string path;  ///< with the sequence number, if there is one
  Stat stat;  ///< of containers and nodes with a TTL; of others the czxid alone, 0: not known
};
struct OpResult {
  int code = code::ok;
  std::string path;  ///< of a create
  Stat stat;         ///< of a set; of a create, a transaction's answer has none (C client 3.8)
};
struct Nothing {};

/// A change of the ensemble's members: some come and some go, or all are named anew.
struct Reconfiguration {
  std::optional<std::string> joining{};  ///< "server.4=HOST:PORT:PORT;PORT", separated by commas
  std::optional<std::string> leaving{};  ///< numbers of servers, separated by commas
  std::optional<std::string> members{};  ///< as joining; alone
  std::int64_t version = -1;             ///< of the configuration that is to change; -1: any
};

}  // namespace zksh
