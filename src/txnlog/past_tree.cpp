// PastTree: a tree as it was, replayed from a snapshot and transactions.
#include "txnlog/past_tree.h"

#include "base/error.h"
#include "base/jute.h"
#include "base/number.h"
#include "base/zlib.h"
#include "txnlog/data_files.h"
#include "txnlog/transaction_reader.h"

#include <fmt/core.h>

#include <array>

namespace zksh {
namespace {

/// world:anyone:cdrwa, encoded.
constexpr std::string_view anyone_acl("\0\0\0\1\0\0\0\x1f\0\0\0\5world\0\0\0\6anyone", 27);
constexpr std::string_view null_acl("\xff\xff\xff\xff", 4);
constexpr std::int64_t open_acl_number = -1;

/// The root's path in the files and the digest.
std::string_view stored_path(std::string_view path) { return path == "/" ? "" : path; }

std::string_view parent_of(std::string_view path) { return path.substr(0, path.rfind('/')); }

/// The code points below which a charset has a character: of UTF-8, ISO 8859-1 and ASCII.
constexpr std::array<std::uint32_t, 3> charsets{0x110000, 0x100, 0x80};

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// String.getBytes: `?` for each code point that the charset lacks.
std::string java_bytes(std::string_view text, std::uint32_t charset) {
  if (charset == charsets.front()) return std::string(text);
  const auto byte = [&](std::size_t at) -> std::uint32_t {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  };
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto point = byte(at);
    if ((point & 0xc0U) == 0x80) continue;  // it goes on with the one before
    if (point >= 0x80) point = point < 0xc4 ? (point & 3U) << 6U | (byte(at + 1) & 0x3fU) : charset;
    bytes += point < charset ? static_cast<char>(point) : '?';
  }
  return bytes;
}

/// DigestCalculator.java, version 2. `path`: its bytes.
std::uint64_t digest_of(std::string_view path, const PastNode& node) {
  std::array<char, 60> bytes{};
  std::size_t at = 0;
  const auto put = [&](auto number) {
    put_number(bytes.data() + at, number, sizeof number);
    at += sizeof number;
  };
  const auto& stat = node.stat;
  for (const auto number : {stat.czxid, stat.mzxid, stat.pzxid, stat.ctime, stat.mtime})
    put(number);
  for (const auto number : {stat.version, stat.cversion, stat.aversion}) put(number);
  put(stat.ephemeral_owner);
  auto sum = crc32_of(path);
  if (node.data) sum = crc32_of(*node.data, sum);
  return crc32_of({bytes.data(), bytes.size()}, sum);
}

std::int64_t owner_of(const LoggedTransaction& txn, const TxnOperation& op) {
  if (op.type == TxnType::CreateContainer) return container_owner;
  constexpr std::uint64_t ttl_mark = 0xff00000000000000;
  if (op.type == TxnType::CreateTtl)
    return static_cast<std::int64_t>(ttl_mark | static_cast<std::uint64_t>(op.ttl));
  return op.ephemeral ? txn.session : 0;
}

/// Whether the server of a snapshot began another one before a zxid: it writes one at a time.
bool was_followed(const DataFiles& files, const DataFiles::File& snapshot, std::int64_t zxid) {
  return std::ranges::any_of(files.snapshots(), [&](const DataFiles::File& other) {
    return other.zxid > snapshot.zxid && other.zxid < zxid &&
           other.directory() == snapshot.directory();
  });
}

/// Follows the transactions after `from` and before a zxid; false if some are missing.
bool follow_until(EphemeralOwners& owners, const DataFiles& files, std::int64_t from,
                  std::int64_t zxid, const std::stop_token& stop) {
  TransactionReader reader(files, from, {});
  LoggedTransaction txn;
  bool whole = true;
  for (auto last = from; reader.next(txn) && txn.zxid <= zxid;) {
    if (stop.stop_requested()) throw Cancelled();
    if (txn.zxid <= from) continue;
    whole = whole && (txn.zxid == last + 1 || begins_epoch_after(txn.zxid, last));
    last = txn.zxid;
    if (txn.zxid == zxid) break;
    owners.follow(txn);
    if (txn.type == TxnType::CloseSession) owners.end(txn.session);
  }
  return whole;
}

/// The ephemerals that existed before a zxid, from a snapshot before it, if there is one, and the
/// logs. A snapshot lacks what was deleted while it was written, and that is not over when its own
/// zxid is: so an older one is better, if the logs go back that far.
EphemeralOwners ephemerals_before(const DataFiles& files, std::int64_t zxid,
                                  const std::stop_token& stop) {
  std::optional<EphemeralOwners> newest;
  for (const auto& file : files.newest_snapshots()) {
    if (file.zxid >= zxid || !files.was_agreed(file.zxid)) continue;
    EphemeralOwners owners;
    const SnapshotVisitor visitor{.node = [&](SnapshotNode&& node) {
      if (is_session_owner(node.stat.ephemeral_owner))
        owners.add(node.stat.ephemeral_owner, std::move(node.path));
    }};
    bool complete = false;
    try {
      const auto end = read_snapshot(file.path, visitor, stop);
      complete = end.written_until(file.zxid) < zxid &&
                 (end.tells_end(file.zxid) || was_followed(files, file, zxid));
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      continue;  // a damaged one is passed over, as servers do
    }
    const bool whole = follow_until(owners, files, file.zxid, zxid, stop);
    if (whole && complete) return owners;
    if (!newest) newest = std::move(owners);
    if (!whole) break;
  }
  if (newest) return std::move(*newest);
  EphemeralOwners owners;
  follow_until(owners, files, 0, zxid, stop);
  return owners;
}

}  // namespace

void EphemeralOwners::add(std::int64_t session, std::string path) {
  paths_[session].insert(path);
  owners_[std::move(path)] = session;
}

void EphemeralOwners::remove(std::string_view path) {
  if (owners_.empty()) return;
  const auto owner = owners_.find(std::string(path));
  if (owner == owners_.end()) return;
  const auto session = paths_.find(owner->second);
  session->second.erase(owner->first);
  if (session->second.empty()) paths_.erase(session);
  owners_.erase(owner);
}

std::vector<std::string> EphemeralOwners::end(std::int64_t session) {
  const auto found = paths_.find(session);
  if (found == paths_.end()) return {};
  std::vector<std::string> paths(found->second.begin(), found->second.end());
  paths_.erase(found);
  for (const auto& path : paths) owners_.erase(path);
  return paths;
}

void EphemeralOwners::follow(const LoggedTransaction& txn) {
  for (const auto& op : txn.operations) {
    if (op.deletes()) remove(op.path);
    if (op.ephemeral) add(txn.session, std::string(op.path));
  }
}

std::vector<std::string> SessionEnds::ephemerals(const LoggedTransaction& txn) {
  const bool closes = txn.type == TxnType::CloseSession;
  if (closes && !txn.ephemerals && !owners_) owners_ = ephemerals_before(files_, txn.zxid, stop_);
  if (owners_) owners_->follow(txn);
  if (!closes) return {};
  auto owned = owners_ ? owners_->end(txn.session) : std::vector<std::string>();
  if (txn.ephemerals) owned.assign(txn.ephemerals->begin(), txn.ephemerals->end());
  return owned;
}

void AclNumbers::list(std::int64_t number, std::string_view bytes) {
  last_ = std::max(last_, number);
  entries_[number].bytes = bytes;
  numbers_[std::string(bytes)] = number;
}

std::int64_t AclNumbers::use(std::string_view bytes) {
  if (bytes == null_acl) return open_acl_number;
  const auto [place, fresh] = numbers_.try_emplace(std::string(bytes), last_ + 1);
  if (fresh) entries_[++last_].bytes = bytes;
  use(place->second);
  return place->second;
}

void AclNumbers::use(std::int64_t number) {
  const auto entry = entries_.find(number);
  if (entry != entries_.end()) ++entry->second.uses;
}

void AclNumbers::drop(std::int64_t number) {
  const auto entry = entries_.find(number);
  if (entry == entries_.end() || --entry->second.uses > 0) return;
  numbers_.erase(entry->second.bytes);
  entries_.erase(entry);
}

void AclNumbers::drop_unused() {
  std::erase_if(entries_, [&](const auto& entry) {
    const bool unused = entry.second.uses <= 0;
    if (unused) numbers_.erase(entry.second.bytes);
    return unused;
  });
}

const std::string* AclNumbers::find(std::int64_t number) const {
  static const std::string open(anyone_acl);
  if (number == open_acl_number) return &open;
  const auto entry = entries_.find(number);
  return entry == entries_.end() ? nullptr : &entry->second.bytes;
}

SnapshotEnd PastTree::load(const std::string& snapshot, const std::stop_token& stop) {
  *this = {};
  const SnapshotVisitor visitor{
      .acl = [&](std::int64_t id, std::string_view bytes) { acls_.list(id, bytes); },
      .node =
          [&](SnapshotNode&& node) {
            const bool below_slash = node.path.starts_with("//");  // the root is called ""
            const auto* const parent =
                node.path.empty() || below_slash ? nullptr : node_at(parent_of(node.path));
            if (!parent && !node.path.empty())
              throw Error(
                  fmt::format("a node without its parent (\"unable to find parent {} of path {}\")",
                              parent_of(node.path), node.path));
            // Servers since 3.5 give number 1 to the ACL of this node before they read anything.
            if (node.path == "/zookeeper/config") acls_.begin_after(1);
            acls_.use(node.acl);
            PastNode past{.data = std::move(node.data),
                          .acl = node.acl,
                          .stat = node.stat,
                          .serial = ++last_serial_,
                          .parent_serial = parent ? parent->serial : 0};
            if (is_session_owner(past.stat.ephemeral_owner))
              owners_.add(past.stat.ephemeral_owner, node.path);
            const auto [place, fresh] = nodes_.try_emplace(std::move(node.path));
            if (!fresh) count_out(place->first, place->second);
            place->second = std::move(past);
            count_in(place->first, place->second);
          }};
  auto end = read_snapshot(snapshot, visitor, stop);
  acls_.drop_unused();
  return end;
}

void PastTree::load_first() {
  std::uint64_t parent = 0;
  for (const auto* const path : {"", "/zookeeper", "/zookeeper/quota"}) {
    nodes_[path] = {.data = "",
                    .acl = open_acl_number,
                    .serial = ++last_serial_,
                    .parent_serial = std::exchange(parent, last_serial_)};
    count_in(path, nodes_[path]);
  }
}

PastNode* PastTree::node_at(std::string_view path) {
  key_ = stored_path(path);
  const auto found = nodes_.find(key_);
  return found == nodes_.end() ? nullptr : &found->second;
}

const PastNode* PastTree::find(std::string_view path) const {
  const auto found = nodes_.find(std::string(stored_path(path)));
  return found == nodes_.end() ? nullptr : &found->second;
}

Acl PastTree::acl_of(const PastNode& node) const {
  const auto* bytes = acls_.find(node.acl);
  if (!bytes) bytes = acls_.find(node.logged_acl);
  if (!bytes) return {};
  auto acl = decoded_acl(*bytes);
  return acl.empty() ? decoded_acl(anyone_acl) : acl;
}

/// Whether servers list the node, its parent, and so on.
bool PastTree::is_listed(std::string_view path, const PastNode& node) const {
  const auto* one = &node;
  while (!path.empty()) {
    path = parent_of(path);
    const auto* const parent = find(path);
    if (!parent || one->parent_serial != parent->serial) return false;
    one = parent;
  }
  return true;
}

/// Adds the node's digest so many times, modulo 2^64.
void PastTree::count(const std::string& path, const PastNode& node, std::uint64_t factor) {
  if (path.starts_with("/zookeeper/")) return;
  const auto digest = digest_of(path, node);
  const bool ascii = is_ascii(path);
  for (std::size_t i = 0; i < sums_.size(); ++i)
    sums_.at(i) += factor * (ascii ? digest : digest_of(java_bytes(path, charsets.at(i)), node));
}

void PastTree::count_out(const std::string& path, const PastNode& node) {
  count(path, node, UINT64_MAX);
}

void PastTree::count_in(const std::string& path, const PastNode& node) { count(path, node, 1); }

void PastTree::apply(const LoggedTransaction& txn) {
  for (const auto& op : txn.operations) {
    if (op.creates())
      create(txn, op);
    else if (op.deletes())
      remove(op.path, txn.zxid);
    else
      set(txn, op);
  }
  if (txn.type == TxnType::CloseSession) {
    if (txn.ephemerals)
      for (const auto path : *txn.ephemerals) remove(path, txn.zxid);
    for (const auto& path : owners_.end(txn.session)) remove(path, txn.zxid);
  }
}

void PastTree::learn_acls(const LoggedTransaction& txn) {
  for (const auto& op : txn.operations) {
    if (!op.creates() && op.type != TxnType::SetAcl) continue;
    auto* const node = node_at(op.path);
    if (node && !acls_.find(node->acl) && !acls_.find(node->logged_acl))
      node->logged_acl = acls_.use(op.acl);
  }
}

/// DataTree.createNode. A node that exists already is in a snapshot that was written later.
void PastTree::create(const LoggedTransaction& txn, const TxnOperation& op) {
  auto* const parent = node_at(parent_of(op.path));
  if (!parent || op.path.size() < 2) return;
  const std::string parent_path = key_;
  const auto acl = acls_.use(op.acl);
  auto* const old = node_at(op.path);
  const bool exists = old && old->parent_serial == parent->serial;
  if (exists && !knows_acl(*old)) old->logged_acl = acl;
  if (exists && op.type != TxnType::Create) return;
  count_out(parent_path, *parent);
  const auto cversion =
      op.parent_cversion == -1
          ? static_cast<std::int32_t>(static_cast<std::uint32_t>(parent->stat.cversion) + 1)
          : op.parent_cversion;
  if (cversion > parent->stat.cversion) {
    parent->stat.cversion = cversion;
    parent->stat.pzxid = txn.zxid;
  }
  count_in(parent_path, *parent);
  if (exists) return;
  PastNode node{.data = op.data ? std::optional(std::string(*op.data)) : std::nullopt,
                .acl = acl,
                .stat = {.czxid = txn.zxid,
                         .mzxid = txn.zxid,
                         .ctime = txn.time,
                         .mtime = txn.time,
                         .ephemeral_owner = owner_of(txn, op),
                         .pzxid = txn.zxid},
                .serial = ++last_serial_,
                .parent_serial = parent->serial};
  if (op.ephemeral) owners_.add(txn.session, key_);
  if (old) count_out(key_, *old);
  count_in(key_, node);
  nodes_[key_] = std::move(node);
}

void PastTree::remove(std::string_view path, std::int64_t zxid) {
  auto* const parent = node_at(parent_of(path));
  if (!parent || path.size() < 2) return;
  count_out(key_, *parent);
  parent->stat.pzxid = std::max(parent->stat.pzxid, zxid);
  count_in(key_, *parent);
  const auto* const node = node_at(path);
  if (!node) return;
  count_out(key_, *node);
  acls_.drop(node->acl);
  if (is_session_owner(node->stat.ephemeral_owner)) owners_.remove(path);
  nodes_.erase(key_);
}

void PastTree::set(const LoggedTransaction& txn, const TxnOperation& op) {
  if (op.type == TxnType::Check) return;
  auto* const node = node_at(op.path);
  if (!node) return;
  count_out(key_, *node);
  if (op.type == TxnType::SetAcl) {
    acls_.drop(node->acl);
    node->acl = acls_.use(op.acl);
    node->logged_acl = 0;
    node->stat.aversion = op.version;
  } else {
    node->data = op.data ? std::optional(std::string(*op.data)) : std::nullopt;
    node->stat.version = op.version;
    node->stat.mzxid = txn.zxid;
    node->stat.mtime = txn.time;
  }
  count_in(key_, *node);
}

std::vector<std::string_view> PastTree::below(std::string_view top) const {
  const auto stored = stored_path(top);
  std::vector<std::string_view> paths;
  for (const auto& [path, node] : nodes_)
    if (path.starts_with(stored) && (path.size() == stored.size() || path[stored.size()] == '/') &&
        is_listed(path, node))
      paths.push_back(path.empty() ? std::string_view("/") : std::string_view(path));
  return paths;
}

}  // namespace zksh
