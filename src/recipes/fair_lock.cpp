// FairLock: ZooKeeper's lock recipe: contenders queue up, and each watches its predecessor.
#include "recipes/fair_lock.h"

#include "client/node_path.h"

#include <algorithm>

namespace zksh {
namespace {

/// The name of the reader that takes the place of "_c_GUID-__WRIT__0000000007" in the queue.
std::string reader_name(const LockName& writer) {
  const auto* const tag = writer.tag == LockTag::KazooLock ? "__rlock__" : "__READ__";
  return fmt::format("{}{}{:010}", writer.prefix(), tag, writer.sequence);
}

}  // namespace

LockNodesPlan contender_plan(const LockRequest& request, Compat names, const std::string& guid) {
  LockNodesPlan plan;
  for (const auto& prefix : contender_prefixes(names, request.mode, request.read_write, guid))
    plan.nodes.push_back({.path = join_path(request.path, prefix),
                          .data = request.owner,
                          .acl = request.acl,
                          .mode = CreateMode::Ephemeral,
                          .sequential = true});
  // kazoo's objects fail if the lock node that they have seen is removed.
  const auto usual = names == Compat::Curator ? CreateMode::Container : CreateMode::Persistent;
  plan.parents = request.parent.value_or(usual);
  return plan;
}

void report_other_names(const LockReport& report, const std::string& path) {
  if (report.warning)
    report.warning(path +
                   ": other contenders here would not see Curator's names; queueing with names "
                   "that all libraries see (--compat all)");
}

FairLock::FairLock(Client& client, Fiber& fiber, const LockReport& report, LockRequest request,
                   LockWait wait)
    : requests_(client, fiber, report),
      report_(report),
      request_(std::move(request)),
      names_(request_.compat.value_or(Compat::Curator)),
      nodes_(requests_,
             [this](const std::string& guid) { return contender_plan(request_, names_, guid); }),
      turn_(requests_, report, request_, wait) {}

Task<> FairLock::acquire(Clock::time_point deadline) {
  return attempt_until(deadline, requests_, contend(), [this] { return give_up(); });
}

Task<> FairLock::give_up() {
  turn_.leave(false);
  co_await nodes_.take_back();
}

Task<> FairLock::contend() {
  if (request_.try_only) co_await turn_.look_first();
  for (;;) {
    co_await nodes_.make([this] { turn_.ask(); });
    const auto turn = co_await turn_.await(nodes_, names_);
    bool held = turn == Turn::Held;
    if (held) held = co_await nodes_.prove();
    if (held) co_return;
    if (turn == Turn::OtherNames) {
      names_ = Compat::All;
      report_other_names(report_, request_.path);
    } else if (request_.requeue) {
      turn_.report_lost_place(nodes_.same_session());
    } else {
      throw LockLost("the place in the queue of " + request_.path + " is lost");
    }
    turn_.leave(true);
    co_await nodes_.take_back();  // some of several nodes may be left
    if (turn != Turn::OtherNames) co_await requests_.pause_after_loss();
  }
}

Task<bool> FairLock::release() {
  requests_.set_deadline(Fiber::never);
  turn_.leave(true);
  co_return co_await nodes_.take_back();
}

Task<> FairLock::downgrade() {
  if (!request_.read_write || request_.mode != LockMode::Exclusive)
    throw ValueError(request_.path + " is not held for writing");
  const Fiber::Shield shield(requests_.fiber());
  const auto queue = co_await turn_.look();
  const auto own = std::ranges::find_if(queue.contenders, [&](const Contender& contender) {
    return nodes_.has(contender.nodes.front());
  });
  if (own == queue.contenders.end() || !nodes_.same_session())
    throw LockLost(request_.path + " was lost before the downgrade");
  if (own->czxid != 0)
    throw Error(request_.path +
                ": the sequence counter is exhausted, so a new name has no place in the queue; "
                "release the lock instead");
  // With the names of all libraries, readers have a __lock__ node too.
  const auto stays = [&](const LockName& node) {
    return node.tag != LockTag::Write && (node.tag != LockTag::KazooLock || own->nodes.size() > 1);
  };
  std::vector<Op> ops;
  std::vector<std::string> after;  // created nodes come last
  for (const auto& node : own->nodes)
    if (stays(node)) after.push_back(join_path(request_.path, node.text));
  for (const auto& node : own->nodes) {
    if (stays(node)) continue;
    after.push_back(join_path(request_.path, reader_name(node)));
    ops.emplace_back(CreateOp{.path = after.back(),
                              .data = request_.owner,
                              .acl = request_.acl,
                              .mode = CreateMode::Ephemeral});
    ops.emplace_back(RemoveOp{.path = join_path(request_.path, node.text)});
  }
  co_await nodes_.exchange(std::move(ops), std::move(after));
  request_.mode = LockMode::Shared;
  const bool held = co_await nodes_.prove();
  if (!held) throw LockLost(request_.path + " was lost during the downgrade");
}

}  // namespace zksh
