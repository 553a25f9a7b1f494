// PastLocks: who held a lock, who waited for it and how it ended, by the transaction logs alone.
#include "lock/past_locks.h"

#include "base/mapped.h"
#include "client/node_path.h"

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// The semaphore whose contenders or leases may be below `lock`; empty if there is none.
std::string_view semaphore_of(std::string_view lock) {
  const auto name = base_name(lock);
  return name == "locks" || name == "leases" ? parent_path(lock) : std::string_view();
}

}  // namespace

PastLocks::PastLocks(std::function<bool(std::string_view)> is_lock, bool any_name, Report report)
    : is_lock_(std::move(is_lock)), any_name_(any_name), report_(std::move(report)) {}

void PastLocks::add_present(std::string_view path, std::int64_t session, std::int64_t czxid,
                            std::int64_t ctime) {
  add(path, session, czxid, ctime);
}

bool PastLocks::is_wanted(std::string_view lock, ContenderTag tag) const {
  if (is_lock_(lock) && (any_name_ || tag != ContenderTag::Unknown)) return true;
  const auto semaphore = semaphore_of(lock);
  return !semaphore.empty() && (tag == ContenderTag::Lock || tag == ContenderTag::Lease) &&
         (is_lock_(semaphore) || is_lock_(join_path(semaphore, "leases")));
}

PastTurn* PastLocks::add(std::string_view path, std::int64_t session, std::int64_t zxid,
                         std::int64_t time) {
  const auto name = parse_lock_name(base_name(path));
  if (!name) return nullptr;
  const auto lock = parent_path(path);
  if (!is_wanted(lock, name->tag)) return nullptr;
  auto& queue = queues_[std::string(lock)];
  if (!queue.czxids.emplace(name->text, zxid).second) return nullptr;
  const bool lease = name->tag == ContenderTag::Lease;
  const auto [turn, fresh] =
      queue.turns.try_emplace(std::string(name->key()), PastTurn{.lock = std::string(lock),
                                                                 .node = name->text,
                                                                 .mode = name->mode(),
                                                                 .lease = lease,
                                                                 .session = session,
                                                                 .token = zxid,
                                                                 .asked = time});
  if (!fresh) return nullptr;
  if (lease) {
    acquire(queue, turn->second, time);
    semaphores_.emplace(semaphore_of(lock));
    return &turn->second;
  }
  if (name->mode() == LockMode::Shared) ++queue.shared;
  // Another writer waits behind all that are there.
  if (queue.turns.size() == 1 || queue.shared > 0) note_holders(queue, time);
  return &turn->second;
}

/// Adds its contender's wait to a lease: that of its session's contender that holds the mutex.
void PastLocks::add_wait(PastTurn& lease) {
  const auto mutex = queues_.find(join_path(parent_path(lease.lock), "locks"));
  if (mutex == queues_.end()) return;
  for (auto& [key, turn] : mutex->second.turns) {
    if (turn.session != lease.session || !turn.acquired) continue;
    turn.has_lease = true;
    lease.asked = turn.asked;
  }
}

void PastLocks::report(PastTurn turn) const {
  const std::string semaphore(semaphore_of(turn.lock));
  const bool of_semaphore = semaphores_.contains(semaphore) && !semaphore.empty();
  if (of_semaphore && !turn.lease) {
    if (turn.has_lease) return;
    turn.acquired.reset();  // it held the mutex only to wait for a lease
    turn.overlaps = 0;
  }
  if (is_lock_(turn.lock) || (of_semaphore && is_lock_(semaphore))) report_(turn);
}

void PastLocks::acquire(Queue& queue, PastTurn& turn, std::int64_t time) {
  for (auto& [key, other] : queue.turns) {
    if (!other.acquired) continue;
    ++other.overlaps;
    ++turn.overlaps;
  }
  turn.acquired = time;
}

/// Notes who holds the lock now and did not before.
void PastLocks::note_holders(Queue& queue, std::int64_t time) {
  auto names = mapped(queue.czxids, [](const auto& node) { return node.first; });
  const auto contenders = make_lock_queue(std::move(names), queue.czxids);
  for (std::size_t i = 0; i < contenders.contenders.size() && contenders.holds(i); ++i) {
    const auto turn = queue.turns.find(contenders.contenders[i].key());
    if (turn != queue.turns.end() && !turn->second.acquired) acquire(queue, turn->second, time);
  }
}

void PastLocks::remove(std::string_view path, PastTurn::End end, const LoggedTransaction& txn) {
  const auto found = queues_.find(std::string(parent_path(path)));
  if (found == queues_.end()) return;
  auto& queue = found->second;
  const auto name = parse_lock_name(base_name(path));
  if (!name || queue.czxids.erase(name->text) == 0) return;
  const auto place = queue.turns.find(name->key());
  const bool other_node = std::ranges::any_of(queue.czxids, [&](const auto& other) {
    const auto parsed = parse_lock_name(other.first);
    return parsed && parsed->key() == name->key();
  });
  if (place == queue.turns.end() || other_node) return;
  auto turn = std::move(place->second);
  queue.turns.erase(place);
  if (turn.mode == LockMode::Shared && !turn.lease) --queue.shared;
  turn.ended = txn.time;
  turn.end = end;
  if (end == PastTurn::End::Released && txn.session != turn.session) {
    turn.end = PastTurn::End::Removed;
    turn.ended_by = txn.session;
  }
  const bool matters = turn.acquired || queue.shared > 0;
  if (queue.czxids.empty())
    queues_.erase(found);
  else if (matters)
    note_holders(queue, txn.time);
  report(std::move(turn));
}

void PastLocks::apply(const LoggedTransaction& txn, const std::vector<std::string>& ended) {
  using End = PastTurn::End;
  for (const auto& op : txn.operations) {
    if (!op.creates() || !op.ephemeral) continue;
    auto* const turn = add(op.path, txn.session, txn.zxid, txn.time);
    if (turn && turn->lease) add_wait(*turn);
  }
  // Last, since a multi may give up the mutex before it takes the lease.
  for (const auto& op : txn.operations)
    if (op.deletes()) remove(op.path, End::Released, txn);
  for (const auto& path : ended) remove(path, txn.expired() ? End::Expired : End::Closed, txn);
}

void PastLocks::report_open() {
  std::vector<const PastTurn*> open;
  for (const auto& [path, queue] : queues_)
    for (const auto& [key, turn] : queue.turns) open.push_back(&turn);
  std::ranges::sort(open, {}, &PastTurn::token);
  for (const auto* const turn : open) report(*turn);
}

}  // namespace zksh
