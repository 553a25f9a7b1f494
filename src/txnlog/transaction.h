// LoggedTransaction: a record of a transaction log, decoded.
#pragma once

#include "client/nodes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zksh {

/// ZooDefs.OpCode, as far as logs have them.
enum class TxnType : std::int32_t {
  CloseSession = -11,
  CreateSession = -10,
  Error = -1,
  Create = 1,
  Delete = 2,
  SetData = 5,
  SetAcl = 7,
  Check = 13,
  Multi = 14,
  Create2 = 15,
  Reconfig = 16,
  CreateContainer = 19,
  DeleteContainer = 20,
  CreateTtl = 21,
};

/// A change of one node. The texts point into the record's bytes.
struct TxnOperation {
  TxnType type = TxnType::Error;
  std::string_view path{};
  std::optional<std::string_view> data{};  ///< of creates and SetData
  std::string_view acl{};                  ///< encoded; of creates and SetAcl
  std::int32_t version = -1;  ///< the new version of the data or ACL, or the one to check
  std::int32_t parent_cversion = -1;
  bool ephemeral = false;
  std::int64_t ttl = 0;

  bool creates() const {
    return type == TxnType::Create || type == TxnType::Create2 ||
           type == TxnType::CreateContainer || type == TxnType::CreateTtl;
  }
  bool deletes() const { return type == TxnType::Delete || type == TxnType::DeleteContainer; }
  bool sets() const { return type == TxnType::SetData || type == TxnType::Reconfig; }
};

struct LoggedTransaction {
  std::int64_t session = 0;
  std::int32_t cxid = 0;
  std::int64_t zxid = 0;
  std::int64_t time = 0;  ///< milliseconds since 1970, by the leader's clock
  TxnType type = TxnType::Error;
  std::size_t bytes = 0;  ///< of the record

  std::vector<TxnOperation> operations{};  ///< what was applied, in this order
  std::int32_t error = 0;                  ///< of a failed request or multi: its code
  std::int32_t timeout = 0;                ///< of CreateSession, in milliseconds
  /// Of CloseSession: the ephemerals that it deletes; nullopt: the record does not say.
  std::optional<std::vector<std::string_view>> ephemerals{};
  std::optional<std::uint64_t> digest{};  ///< of the tree after it
  bool known = true;  ///< false: it, or a part of it, is of a type that this program does not know
  /// Of a malformed one: the length of a text that does not fit, or 0 if the record ends too early.
  std::int32_t bad_length = 0;
  bool bad_part = false;  ///< of a malformed one: only a part of a multi is

  bool failed() const { return error != 0; }
  /// Of CloseSession: the client did not ask for it.
  bool expired() const { return type == TxnType::CloseSession && cxid == 0; }
};

/// Decodes a record's body into `txn`; false if it is malformed. The format is that of
/// zookeeper.jute and SerializeUtils.deserializeTxn, 3.4 to 3.9.
bool parse_transaction(std::string_view body, LoggedTransaction& txn);
/// The zxid alone; the body has at least txn_header_size bytes.
std::int64_t zxid_of(std::string_view body);
inline constexpr std::size_t txn_header_size = 32;

/// Whether two records tell the same. Those of a failed multi differ among the members of an
/// ensemble.
bool same_transaction(std::string_view body, std::string_view other);

/// Decodes the bytes of an ACL; malformed ones give an empty list.
Acl decoded_acl(std::string_view bytes);

/// Whether it is a session, and not a mark of another kind: EphemeralType.java.
bool is_session_owner(std::int64_t ephemeral_owner);
inline constexpr std::int64_t container_owner = INT64_MIN;

}  // namespace zksh
