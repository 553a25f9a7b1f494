// TreeApply: restores a dump with the fewest writes, or copies a subtree.
#include "tree/tree_apply.h"

#include "base/error.h"
#include "base/number.h"
#include "base/words.h"
#include "client/rehearsal.h"
#include "client/server_version.h"
#include "command/work.h"
#include "node/acl_argument.h"
#include "node/parents.h"
#include "tree/sequence_counters.h"
#include "tree/tree_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {

TreeApply::TreeApply(Client& client, Plan plan, std::stop_token stop)
    : client_(client),
      plan_(std::move(plan)),
      stop_(std::move(stop)),
      writer_(
          client, {.limits = plan_.limits},
          [this](const Write& write, const Written& result) { done(write, result); }, stop_) {}

void TreeApply::run(const RecordStream& records) {
  auto record = records();
  auto following = records();
  client_.await_connection(plan_.top, stop_);
  identities_ = client_.identities();
  if (!plan_.parents_made) require_parent(client_, plan_.top, stop_);
  LiveTree live(
      client_,
      {.top = plan_.top, .may_be_missing = true, .quotas = plan_.quotas, .limits = plan_.limits},
      stop_);
  auto node = live.next();
  std::size_t reached = 0;
  while ((record || node) && !failure_) {
    const bool only_found = node && (!record || stands_before(node->record.path, record->path));
    const auto& path = only_found ? node->record.path : record->path;
    // Completes the open nodes that are not ancestors of this one.
    while (!open_.empty() && !is_within(path, open_.back().path)) {
      const auto done = std::move(open_.back());
      open_.pop_back();
      close(done);
    }
    plan_.reached(++reached);
    if (only_found) {
      handle_extra(*node);
      node = live.next();
      continue;
    }
    const bool inner = following && is_within(following->path, path);
    const bool exists = node && node->record.path == path;
    const bool possible = exists || !skipped_ || !is_within(path, *skipped_);
    if (possible && plan_.counters) plan_.counters->add(absolute(path), !exists);
    if (exists) {
      reconcile(*record, *node, inner);
      node = live.next();
    } else if (possible) {
      create(*record, inner);
    } else {
      ++counts_.conflicts;
    }
    record = std::exchange(following, records());
  }
  // After a refusal, the nodes above keep the ACL that the next run can work with.
  while (!open_.empty() && !failure_) {
    close(open_.back());
    open_.pop_back();
  }
  writer_.finish();
  if (failure_) std::rethrow_exception(failure_);
  set_all_limits();
}

void TreeApply::close(const Open& node) {
  const auto path = absolute(node.path);
  if (node.acl) return write(SetAclOp{.path = path, .acl = *node.acl, .version = node.version});
  if (!node.shelters) return write(RemoveOp{.path = path, .version = node.version});
  ++counts_.sheltering;
}

/// Handles a node that is not in the text.
void TreeApply::handle_extra(const FoundNode& node) {
  const bool ephemeral = node.record.life.kind == NodeKind::Ephemeral;
  if (ephemeral || (plan_.prune && !node.stat_readable))
    for (auto& above : open_) above.shelters = true;
  if (ephemeral) {
    ++counts_.ephemerals;
  } else if (plan_.prune && !node.stat_readable) {
    refuse(absolute(node.record.path),
           "is not removed: no permission to see whether it is an ephemeral");
  } else if (plan_.prune) {
    open_.push_back({.path = node.record.path, .version = node.stat.version});
  } else {
    ++counts_.others;
  }
}

/// Whether the record's ACL must not be written, since nobody could change it any more.
bool TreeApply::is_refused(const TreeRecord& record) {
  if (plan_.sealing || may_be_changed(record.acl)) return false;
  ++counts_.conflicts;
  plan_.conflict(sealed_text(absolute(record.path)) + " (--force does it)");
  return true;
}

void TreeApply::create(const TreeRecord& record, bool inner) {
  if (is_refused(record)) {
    skipped_ = record.path;
    return;
  }
  CreateOp op{.path = absolute(record.path),
              .data = record.data,
              .acl = record.acl,
              .mode = record.life.kind == NodeKind::Container ? CreateMode::Container
                                                              : CreateMode::Persistent,
              .ttl = record.life.ttl};
  if (inner && !may(record.acl, perm::create)) {
    op.acl = with_self(record.acl);
    open_.push_back({.path = record.path, .acl = record.acl, .version = 0});
  }
  write(std::move(op));
  note_limits(record.path, record.limits, no_limits);
}

/// Returns false if nothing of the node can be changed.
bool TreeApply::fits(const TreeRecord& record, const FoundNode& node) {
  const auto path = absolute(record.path);
  const auto& now = node.record.life;
  if (now.kind == NodeKind::Ephemeral || !node.readable) {
    skipped_ = record.path;  // what is below is not known
    refuse(path, node.readable ? "is an ephemeral of a session"
                               : "cannot be compared: no permission to read it or its ACL");
    return false;
  }
  if (!agree(now, record.life))
    refuse(path, fmt::format("is {}, not {}; the kind of an existing node cannot be changed",
                             life_text(now), life_text(record.life)));
  return true;
}

void TreeApply::reconcile(const TreeRecord& record, const FoundNode& node, bool inner) {
  if (!fits(record, node)) return;
  const bool data_differ = node.record.data != record.data;
  const bool acl_hidden = hides_hash(node.record.acl);
  if (acl_hidden)
    refuse(absolute(record.path),
           "has an ACL that cannot be compared: the servers hide a hash in it from this session, "
           "which may not set it");
  const bool acl_differs = !acl_hidden && node.record.acl != record.acl;
  if (acl_differs && is_refused(record)) return;
  if (acl_differs) write_acl(record, node, inner, data_differ);
  if (data_differ)
    write(SetOp{.path = absolute(record.path), .data = record.data, .version = node.stat.version});
  note_limits(record.path, record.limits, node.record.limits);
  if (!data_differ && !acl_differs && !acl_hidden) ++counts_.unchanged;
}

/// The new ACL is set before the new data, which it may hide.
void TreeApply::write_acl(const TreeRecord& record, const FoundNode& node, bool inner,
                          bool data_differ) {
  const int needed = (inner ? perm::create : 0) | (inner && plan_.prune ? perm::remove : 0) |
                     (data_differ ? perm::write : 0);
  const auto path = absolute(record.path);
  auto version = node.stat.aversion;
  if (may(record.acl, needed))
    return write(SetAclOp{.path = path, .acl = record.acl, .version = version});
  const auto working = with_self(record.acl);
  if (node.record.acl != working)
    write(SetAclOp{.path = path, .acl = working, .version = version++});
  open_.push_back({.path = record.path, .acl = record.acl, .version = version});
}

void TreeApply::note_limits(const std::string& path, const QuotaLimits& wanted,
                            const QuotaLimits& now) {
  if (wanted == now || (wanted == no_limits && !plan_.prune)) return;
  limits_[absolute(path)] = wanted;
}

void TreeApply::set_all_limits() {
  std::optional<QuotaPlace> place;
  if (!limits_.empty() && !plan_.rehearse) place.emplace(client_, stop_);
  for (const auto& [path, limits] : limits_) {
    QuotaText quota;
    for (std::size_t i = 0; i < limits.size(); ++i) quota.set(limit_keys.at(i), limits.at(i));
    if (place && limits == no_limits)
      remove_quota(*place, path, stop_);
    else if (place)
      write_quota(*place, path, quota, stop_);
    ++counts_.quotas;
    const auto text = limits_text(limits);
    plan_.on_write(
        {.verb = "set the quota of", .path = path, .detail = text.empty() ? "none" : text});
  }
}

void TreeApply::write(Write write) {
  if (!plan_.rehearse) return writer_.add(std::move(write));
  count(write);
}

void TreeApply::done(const Write& write, const Written& result) {
  if (result.code == code::ok || already_done(client_, write, result.code, stop_))
    return count(write);
  if (failure_) return;  // usually a consequence of the first failure
  if (result.code == code::bad_version || result.code == code::node_exists)
    failure_ = std::make_exception_ptr(
        Error(fmt::format("{} was changed by somebody else meanwhile; run apply again",
                          as_word(path_of(write))),
              exit_status_of(result.code)));
  else
    failure_ = std::make_exception_ptr(
        result.code == code::unimplemented ? unsupported(write) : error_of(write, result));
}

/// The error for a write that the server is too old for, or not configured for.
ZkError TreeApply::unsupported(const Write& write) {
  const auto* const create = std::get_if<CreateOp>(&write);
  try {
    require_newer(client_, path_of(write),
                  create && create->ttl > 0 ? "nodes with a TTL" : "containers", stop_);
  } catch (const ZkError& error) {
    return error;
  }
  const ZkError error(code::unimplemented, path_of(write), true);
  return create && create->ttl > 0 ? without_extended_types(error) : error;
}

/// Counts and reports a write that was done, or would be.
void TreeApply::count(const Write& write) {
  const auto& path = path_of(write);
  if (const auto* create = std::get_if<CreateOp>(&write)) {
    ++counts_.created;
    plan_.on_write({.verb = "create", .path = path, .detail = data_size_text(create->data)});
  } else if (const auto* set = std::get_if<SetOp>(&write)) {
    ++counts_.set;
    plan_.on_write({.verb = "set", .path = path, .detail = data_size_text(set->data)});
  } else if (const auto* acl = std::get_if<SetAclOp>(&write)) {
    ++counts_.acls;
    plan_.on_write({.verb = "set the ACL of", .path = path, .detail = acl_field(acl->acl)});
  } else {
    ++counts_.removed;
    plan_.on_write({.verb = "delete", .path = path});
  }
}

void TreeApply::refuse(const std::string& path, const std::string& why) {
  ++counts_.conflicts;
  plan_.conflict(fmt::format("{} {}", as_word(path), why));
}

/// Whether the ACL certainly grants this session all of these permissions. Networks (ip) are not
/// evaluated.
bool TreeApply::may(const Acl& acl, int perms) const {
  int given = 0;
  for (const auto& [entry_perms, scheme, id] : acl) {
    const bool anyone = scheme == "world" && id == "anyone";
    if (anyone || std::ranges::count(identities_, Identity{.scheme = scheme, .id = id}) > 0)
      given |= entry_perms;
  }
  return (perms & ~given) == 0;
}

/// The ACL with all permissions for this session added.
Acl TreeApply::with_self(const Acl& acl) const {
  auto all = acl;
  const auto known = std::ranges::find(identities_, std::string("digest"), &Identity::scheme);
  const auto self = known != identities_.end() ? known : identities_.begin();
  if (self != identities_.end())
    all.push_back({.perms = perm::all, .scheme = self->scheme, .id = self->id});
  return all;
}

void require_whole(const FoundNode& node, const std::string& path) {
  if (!node.readable) throw ZkError(code::no_auth, path);
  if (hides_hash(node.record.acl))
    throw Error(fmt::format("the servers hide a hash in the ACL of {}, which this session may not "
                            "administer; `addauth` an identity that may",
                            as_word(path)),
                status::not_authorised);
}

std::size_t copy_tree(Context& cx, const CopyPlan& plan) {
  LiveTree source(cx.client, {.top = plan.source, .quotas = false, .limits = plan.limits}, cx.stop);
  const auto next = [&]() -> std::optional<TreeRecord> {
    while (auto node = source.next()) {
      auto& record = node->record;
      const bool ephemeral = record.life.kind == NodeKind::Ephemeral;
      if (ephemeral && !record.path.empty()) {
        plan.left_out(*node);
        continue;
      }
      require_whole(*node, path_below(plan.source, record.path));
      plan.copied(*node);
      if (ephemeral) record.life.kind = NodeKind::Persistent;
      record.life.certain = true;
      record.limits = no_limits;
      return std::move(record);
    }
    return std::nullopt;
  };
  Progress progress(cx.out, cx.background, "nodes copied");
  std::size_t created = 0;
  const auto on_write = [&](const WriteDescription& write) {
    if (cx.rehearsal) cx.rehearsal->note(write);
    if (write.verb == "create") progress.reach(++created);
  };
  TreeApply apply(cx.client,
                  {.top = plan.target,
                   .rehearse = cx.rehearsal != nullptr,
                   .parents_made = plan.parents_made,
                   .quotas = false,
                   .sealing = plan.sealing,
                   .limits = plan.limits,
                   .on_write = on_write,
                   .conflict = [](const std::string& sentence) { throw Error(sentence); },
                   .counters = plan.counters},
                  cx.stop);
  report_if_incomplete(
      cx, progress, [&] { apply.run(next); },
      [&] {
        if (created + apply.unanswered() == 0) return std::string();
        return plan.incomplete(
            fmt::format("{} copied to {}", counted_were(created, "node"), as_word(plan.target)),
            unknown_text(apply.unanswered()));
      });
  return created;
}

}  // namespace zksh
