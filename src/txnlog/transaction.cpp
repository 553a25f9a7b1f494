// LoggedTransaction: a record of a transaction log, decoded.
#include "txnlog/transaction.h"

#include "base/jute.h"
#include "client/zk_error.h"

#include <string>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t digest_size = 12;

/// Parses what follows the type; false for an unknown one.
bool parse_operation(TxnOperation& op, JuteReader& in) {
  op.path = in.text();
  switch (op.type) {
    case TxnType::Create:
    case TxnType::Create2:
      op.data = in.buffer();
      op.acl = in.acl();
      op.ephemeral = in.boolean();
      // 3.3 wrote no version.
      op.parent_cversion = in.left() > 0 && in.left() != digest_size ? in.integer() : -1;
      return true;
    case TxnType::CreateContainer:
    case TxnType::CreateTtl:
      op.data = in.buffer();
      op.acl = in.acl();
      op.parent_cversion = in.integer();
      if (op.type == TxnType::CreateTtl) op.ttl = in.long_integer();
      return true;
    case TxnType::Delete:
    case TxnType::DeleteContainer:
      return true;
    case TxnType::SetData:
    case TxnType::Reconfig:
      op.data = in.buffer();
      op.version = in.integer();
      return true;
    case TxnType::SetAcl:
      op.acl = in.acl();
      op.version = in.integer();
      return true;
    case TxnType::Check:
      op.version = in.integer();
      return true;
    default:
      return false;
  }
}

/// If any part failed, nothing was applied: the others keep their types in most files; in those of
/// some members they have type -1, with the original request as body. False if it is malformed.
bool parse_multi(LoggedTransaction& txn, JuteReader& in) {
  constexpr std::size_t least_part = 8;
  constexpr std::size_t error_size = 4;
  for (auto left = in.count(least_part); left > 0; --left) {
    const auto type = static_cast<TxnType>(in.integer());
    JuteReader part(in.text());
    if (type == TxnType::Error) {
      const auto error = part.left() == error_size ? part.integer() : code::ok;
      // The parts before and after the one that failed have codes that say nothing.
      const bool own = error != code::ok && error != code::runtime_inconsistency;
      if (txn.error == code::ok || own) txn.error = own ? error : code::runtime_inconsistency;
      continue;
    }
    TxnOperation op{.type = type};
    if (!parse_operation(op, part))
      txn.known = false;
    else if (part.failed())
      txn.bad_part = true;
    else
      txn.operations.push_back(op);
  }
  if (txn.failed()) txn.operations.clear();
  return !txn.bad_part || in.failed();
}

/// A list of paths, since 3.6, before an optional digest. Without a list, a digest may look like
/// one.
void parse_close(LoggedTransaction& txn, JuteReader& in) {
  auto list = in;
  std::vector<std::string_view> paths;
  constexpr std::size_t least_path = 4;
  bool fits = list.left() > 0;
  for (auto left = list.count(least_path); left > 0 && fits; --left) {
    paths.push_back(list.text());
    fits = !list.failed() && paths.back().starts_with('/');
  }
  if (!fits || list.failed() || (list.left() != 0 && list.left() != digest_size)) return;
  txn.ephemerals = std::move(paths);
  in = list;
}

void parse_digest(LoggedTransaction& txn, JuteReader& in) {
  constexpr std::int32_t known_version = 2;
  if (in.left() != digest_size) return;
  const auto version = in.integer();
  const auto digest = static_cast<std::uint64_t>(in.long_integer());
  if (version == known_version) txn.digest = digest;
}

}  // namespace

bool parse_transaction(std::string_view body, LoggedTransaction& txn) {
  JuteReader in(body);
  txn.operations.clear();
  // The list keeps its memory; all else begins anew.
  txn = {.bytes = body.size(), .operations = std::move(txn.operations)};
  txn.session = in.long_integer();
  txn.cxid = in.integer();
  txn.zxid = in.long_integer();
  txn.time = in.long_integer();
  txn.type = static_cast<TxnType>(in.integer());
  switch (txn.type) {
    case TxnType::CreateSession:
      txn.timeout = in.integer();
      break;
    case TxnType::CloseSession:
      parse_close(txn, in);
      break;
    case TxnType::Error:
      txn.error = in.integer();
      if (txn.error == 0) txn.error = code::runtime_inconsistency;
      break;
    case TxnType::Multi:
      if (!parse_multi(txn, in)) return false;
      txn.bad_part = false;
      break;
    default:
      txn.operations.emplace_back();
      txn.operations.back().type = txn.type;
      // Servers take a check only within a multi.
      txn.known = parse_operation(txn.operations.back(), in) && txn.type != TxnType::Check;
      if (!txn.known) {
        txn.operations.clear();
        return body.size() >= txn_header_size;
      }
  }
  parse_digest(txn, in);
  txn.bad_length = in.bad_length();
  return !in.failed();
}

std::int64_t zxid_of(std::string_view body) {
  JuteReader in(body);
  in.long_integer();
  in.integer();
  return in.long_integer();
}

bool same_transaction(std::string_view body, std::string_view other) {
  if (body == other) return true;
  LoggedTransaction one;
  LoggedTransaction two;
  return body.substr(0, txn_header_size) == other.substr(0, txn_header_size) &&
         parse_transaction(body, one) && parse_transaction(other, two) &&
         one.type == TxnType::Multi && one.failed() && two.failed();
}

Acl decoded_acl(std::string_view bytes) {
  constexpr std::size_t least_entry = 12;
  JuteReader in(bytes);
  Acl acl;
  for (auto left = in.count(least_entry); left > 0; --left) {
    const auto perms = in.integer();
    const auto scheme = in.text();
    acl.push_back({.perms = perms, .scheme = std::string(scheme), .id = std::string(in.text())});
  }
  return in.failed() ? Acl() : acl;
}

bool is_session_owner(std::int64_t owner) {
  constexpr std::uint64_t ttl_mask = 0xffffff0000000000;
  constexpr std::uint64_t ttl_mark = 0xff00000000000000;
  return owner != 0 && owner != container_owner &&
         (static_cast<std::uint64_t>(owner) & ttl_mask) != ttl_mark;
}

}  // namespace zksh
