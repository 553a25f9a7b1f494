// ExclusiveLock: the simplest lock: the session that creates the node holds it.
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "recipes/lock_nodes.h"
#include "recipes/lock_queue.h"

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// An exclusive lock made of one ephemeral node, PATH/lock. All contenders race to create it; the
/// losers watch it and race again when it is gone. Unfair: there is no queue, and every release
/// wakes everyone. Only zksh knows this recipe; contenders of the other recipes do not see it, so
/// if there are any, this throws LockBusy.
class ExclusiveLock final : public ContendingRecipe {
 public:
  ExclusiveLock(Client& client, Fiber& fiber, const RecipeReport& report, LockRequest request)
      : ContendingRecipe(client, fiber, report, std::move(request)),
        node_(join_path(request_.path(), "lock")),
        nodes_(requests_,
               [this](const std::string& guid) {
                 // The guid tells whether the node is ours if the answer is lost.
                 const auto* const gap = request_.owner.empty() ? "guid=" : " guid=";
                 return NodesPlan{.nodes = {{.path = node_,
                                             .data = request_.owner + gap + guid,
                                             .acl = request_.acl,
                                             .mode = CreateMode::Ephemeral}},
                                  .parents = request_.parent.value_or(CreateMode::Container)};
               }),
        watch_(requests_) {
    if (request_.read_write || request_.mode == LockMode::Shared)
      throw UsageError("the exclusive recipe has no read and write locks");
  }

  Task<bool> release() override { return nodes_.take_back(); }

  const Holding& holding() const override { return nodes_.holding(); }

 private:
  Task<> give_up() override {
    watch_.drop();
    co_await nodes_.take_back();
  }

  Task<> contend() override {
    reported_holder_.clear();
    co_await look_first();
    for (;;) {
      const int result = co_await nodes_.make();
      if (result == code::node_exists) {
        if (request_.try_only) throw LockBusy(request_.path() + " is busy");
        co_await await_end();
        continue;
      }
      const bool held = co_await nodes_.prove();
      if (held) co_return;
      if (!request_.requeue) throw LockLost(request_.path() + ": lost as soon as it was held");
      report_.warn(request_.path() + ": lost as soon as it was acquired; asking again");
      co_await requests_.pause_after_loss();
    }
  }

  /// Contenders in a queue neither see the node nor are stopped by it.
  Task<> look_first() {
    ChildListing listing(requests_, watch_, request_.path());
    auto names = co_await listing.names(false);
    const auto queue = make_lock_queue(std::move(names));
    if (!queue.contenders.empty())
      throw LockBusy(request_.path() +
                     " has a queue whose contenders do not see the node of --recipe exclusive");
    const bool busy = std::ranges::find(queue.others, base_name(node_)) != queue.others.end();
    if (busy && request_.try_only) throw LockBusy(request_.path() + " is busy");
  }

  Task<> await_end() {
    co_await requests_.connected();
    auto seen = co_await watch_.get(node_);
    if (seen.code == code::no_node || is_connection_failure(seen.code)) co_return;
    if (seen.code != code::ok) throw ZkError(seen.code, node_);
    const auto holder = seen.value.data.value_or("");
    if (report_.waiting && holder != reported_holder_) {
      reported_holder_ = holder;
      QueuePlace place{.predecessor_node = "lock"};
      note_predecessor(seen, place);
      note_holder(seen, place);
      report_.waiting(place);
    }
    const bool woken = co_await watch_.event();
    if (!woken) throw LockBusy(request_.path() + " was not acquired in time");
  }

  std::string node_;
  LockNodes nodes_;
  RecipeWatch watch_;
  std::string reported_holder_;  ///< the holder last reported to the user
};

}  // namespace

std::unique_ptr<Recipe> make_exclusive_lock(Client& client, Fiber& fiber,
                                            const RecipeReport& report, LockRequest request) {
  return std::make_unique<ExclusiveLock>(client, fiber, report, std::move(request));
}

}  // namespace zksh
