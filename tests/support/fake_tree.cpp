// FakeTree: a ZooKeeper server's tree in memory, for the sessions of a test.
#include "fake_tree.h"

#include "client/node_path.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

bool may_read(const Acl& acl) {
  return std::ranges::any_of(acl,
                             [](const AclEntry& entry) { return (entry.perms & perm::read) != 0; });
}

bool version_fits(std::int32_t wanted, std::int32_t found) {
  return wanted == -1 || wanted == found;
}

}  // namespace

FakeTree::FakeTree() { nodes_["/"].acl = open_acl(); }

std::int64_t FakeTree::begin_session(const Monitor::Held& /*held*/, Listener listener) {
  sessions_[++last_session_] = std::move(listener);
  return last_session_;
}

void FakeTree::forget_listener(const Monitor::Held& /*held*/, std::int64_t session) {
  sessions_.erase(session);
}

void FakeTree::end_session(const Monitor::Held& held, std::int64_t session) {
  sessions_.erase(session);
  std::vector<std::string> ephemerals;
  for (const auto& [path, entry] : nodes_)
    if (entry.stat.ephemeral_owner == session) ephemerals.push_back(path);
  ++last_zxid_;
  for (const auto& path : ephemerals) apply_remove({.path = path});
  tell(held);
}

void FakeTree::tell(const Monitor::Held& held) {
  for (const auto& path : std::exchange(overflown_, {})) nodes_.at(path).counter = INT32_MAX;
  for (const auto& change : std::exchange(changes_, {}))
    for (const auto& [session, listener] : sessions_) listener(held, change.type, change.path);
}

void FakeTree::touch_parent(const std::string& path, int growth) {
  const std::string parent(parent_path(path));
  auto& [data, acl, stat, counter] = nodes_.at(parent);
  stat.num_children += growth;
  // Wraps as in Java.
  if (growth > 0) {
    // Only within a transaction can a counter exceed its maximum (ZOOKEEPER-3249).
    if (counter == INT32_MAX) overflown_.insert(parent);
    counter = static_cast<std::int32_t>(static_cast<std::uint32_t>(counter) + 1);
  }
  stat.cversion = static_cast<std::int32_t>(2 * static_cast<std::uint32_t>(counter) -
                                            static_cast<std::uint32_t>(stat.num_children));
  stat.pzxid = last_zxid_;
  changes_.push_back({Event::Type::ChildrenChanged, parent});
}

void FakeTree::set_counter(const Monitor::Held& /*held*/, const std::string& path,
                           std::int32_t next) {
  nodes_.at(path).counter = next;
}

void FakeTree::age(const Monitor::Held& /*held*/, const std::string& path,
                   std::chrono::milliseconds by) {
  nodes_.at(path).stat.ctime -= by.count();
}

OpResult FakeTree::apply_create(const CreateOp& op, std::int64_t session) {
  const auto parent = nodes_.find(std::string(parent_path(op.path)));
  if (parent == nodes_.end()) return {.code = code::no_node, .path = {}, .stat = {}};
  auto path = op.path;
  if (op.sequential) path += fmt::format("{:010}", parent->second.counter);
  if (nodes_.contains(path)) return {.code = code::node_exists, .path = {}, .stat = {}};
  if (parent->second.stat.ephemeral_owner != 0)
    return {.code = code::no_children_for_ephemerals, .path = {}, .stat = {}};
  auto& entry = nodes_[path];
  entry.data = op.data;
  entry.acl = op.acl;
  entry.stat.czxid = entry.stat.mzxid = entry.stat.pzxid = last_zxid_;
  entry.stat.ctime = wall_clock_now();
  entry.stat.data_length = op.data ? static_cast<std::int32_t>(op.data->size()) : 0;
  if (op.mode == CreateMode::Ephemeral) entry.stat.ephemeral_owner = session;
  changes_.push_back({Event::Type::Created, path});
  touch_parent(path, 1);
  return {.code = code::ok, .path = path, .stat = entry.stat};
}

OpResult FakeTree::apply_remove(const RemoveOp& op) {
  const auto found = nodes_.find(op.path);
  int result = code::ok;
  if (found == nodes_.end())
    result = code::no_node;
  else if (!version_fits(op.version, found->second.stat.version))
    result = code::bad_version;
  else if (found->second.stat.num_children != 0)
    result = code::not_empty;
  if (result != code::ok) return {.code = result, .path = {}, .stat = {}};
  nodes_.erase(found);
  changes_.push_back({Event::Type::Deleted, op.path});
  touch_parent(op.path, -1);
  return {};
}

OpResult FakeTree::apply_set(const SetOp& op) {
  const auto found = nodes_.find(op.path);
  if (found == nodes_.end()) return {.code = code::no_node, .path = {}, .stat = {}};
  auto& [data, acl, stat, counter] = found->second;
  if (!version_fits(op.version, stat.version))
    return {.code = code::bad_version, .path = {}, .stat = {}};
  data = op.data;
  ++stat.version;
  stat.mzxid = last_zxid_;
  stat.data_length = data ? static_cast<std::int32_t>(data->size()) : 0;
  changes_.push_back({Event::Type::DataChanged, op.path});
  return {.code = code::ok, .path = {}, .stat = stat};
}

OpResult FakeTree::apply(const Op& op, std::int64_t session) {
  if (const auto* create = std::get_if<CreateOp>(&op)) return apply_create(*create, session);
  if (const auto* remove = std::get_if<RemoveOp>(&op)) return apply_remove(*remove);
  if (const auto* set = std::get_if<SetOp>(&op)) return apply_set(*set);
  const auto& check = std::get<CheckOp>(op);
  const auto found = nodes_.find(check.path);
  const int result = found == nodes_.end()                                      ? code::no_node
                     : !may_read(found->second.acl)                             ? code::no_auth
                     : !version_fits(check.version, found->second.stat.version) ? code::bad_version
                                                                                : code::ok;
  return {.code = result, .path = {}, .stat = {}};
}

Outcome<Created> FakeTree::create(const Monitor::Held& held, const CreateOp& op,
                                  std::int64_t session) {
  ++last_zxid_;
  const auto result = apply_create(op, session);
  tell(held);
  return {result.code, {.path = result.path, .stat = result.stat}};
}

Outcome<Nothing> FakeTree::remove(const Monitor::Held& held, const RemoveOp& op) {
  ++last_zxid_;
  const auto result = apply_remove(op);
  tell(held);
  return {result.code, {}};
}

Outcome<Stat> FakeTree::set(const Monitor::Held& held, const SetOp& op) {
  ++last_zxid_;
  const auto result = apply_set(op);
  tell(held);
  return {result.code, result.stat};
}

Outcome<std::vector<OpResult>> FakeTree::multi(const Monitor::Held& held,
                                               const std::vector<Op>& ops, std::int64_t session) {
  const auto before = nodes_;
  ++last_zxid_;
  Outcome<std::vector<OpResult>> outcome;
  for (const auto& op : ops) {
    // Servers report the operations after the failed one as not tried.
    outcome.value.push_back(outcome.code == code::ok
                                ? apply(op, session)
                                : OpResult{code::runtime_inconsistency, {}, {}});
    if (outcome.code == code::ok) outcome.code = outcome.value.back().code;
  }
  if (outcome.code != code::ok) {
    nodes_ = before;
    overflown_.clear();
    changes_.clear();
  }
  tell(held);
  return outcome;
}

Outcome<Stat> FakeTree::exists(const std::string& path) const {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {code::no_node, {}};
  return {code::ok, found->second.stat};
}

Outcome<Node> FakeTree::get(const std::string& path) const {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {code::no_node, {}};
  if (!may_read(found->second.acl)) return {code::no_auth, {}};
  return {code::ok, {.data = found->second.data, .stat = found->second.stat}};
}

Outcome<Children> FakeTree::children(const std::string& path) const {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {code::no_node, {}};
  if (!may_read(found->second.acl)) return {code::no_auth, {}};
  Children children{.names = {}, .stat = found->second.stat};
  const auto start = path == "/" ? path : path + '/';
  for (auto below = nodes_.lower_bound(start);
       below != nodes_.end() && below->first.starts_with(start); ++below)
    if (below->first != "/" && parent_path(below->first) == path)
      children.names.add(base_name(below->first));
  return {code::ok, std::move(children)};
}

Outcome<NodeAcl> FakeTree::get_acl(const std::string& path) const {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {code::no_node, {}};
  return {code::ok, {.acl = found->second.acl, .stat = found->second.stat}};
}

Outcome<Nothing> FakeTree::set_acl(const std::string& path, const Acl& acl, std::int32_t version) {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {code::no_node, {}};
  auto& entry = found->second;
  if (!version_fits(version, entry.stat.aversion)) return {code::bad_version, {}};
  entry.acl = acl;
  ++entry.stat.aversion;
  return {code::ok, {}};
}

}  // namespace zksh
