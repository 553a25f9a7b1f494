// FairLock: ZooKeeper's lock recipe: contenders queue up, and each watches its predecessor.
#include "client/node_path.h"
#include "recipes/lock_turn.h"

#include <algorithm>

namespace zksh {
namespace {

/// The name of the reader that takes the place of "_c_GUID-__WRIT__0000000007" in the queue.
std::string reader_name(const LockName& writer) {
  const auto* const tag = writer.tag == ContenderTag::KazooLock ? "__rlock__" : "__READ__";
  return fmt::format("{}{}{:010}", writer.prefix(), tag, writer.sequence);
}

/// An exclusive lock, or one side of a read/write lock, made of ephemeral sequential nodes with a
/// guid in their names. Source: ZooKeeper Recipes and Solutions, "Locks" and "Shared Locks"; names
/// of Curator and kazoo.
class FairLock final : public ContendingRecipe {
 public:
  FairLock(Client& client, Fiber& fiber, const RecipeReport& report, LockRequest request)
      : ContendingRecipe(client, fiber, report, std::move(request)),
        names_(request_.compat.value_or(Compat::Curator)),
        nodes_(requests_,
               [this](const std::string& guid) { return contender_plan(request_, names_, guid); }),
        turn_(requests_, report, request_) {}

  Task<bool> release() override {
    turn_.leave(true);
    co_return co_await nodes_.take_back();
  }

  Task<> downgrade() override {
    if (!request_.read_write || request_.mode != LockMode::Exclusive)
      throw ValueError(request_.path() + " is not held for writing");
    const Fiber::Shield shield(requests_.fiber());
    const auto queue = co_await turn_.look();
    const auto own = std::ranges::find_if(queue.contenders, [&](const Contender& contender) {
      return nodes_.has(contender.nodes.front());
    });
    if (own == queue.contenders.end() || !nodes_.same_session())
      throw LockLost(request_.path() + " was lost before the downgrade");
    if (own->czxid != 0)
      throw Error(request_.path() +
                  ": the sequence counter is exhausted, so a new name has no place in the queue; "
                  "release the lock instead");
    // With the names of all libraries, readers have a __lock__ node too.
    const auto stays = [&](const LockName& node) {
      return node.tag != ContenderTag::Write &&
             (node.tag != ContenderTag::KazooLock || own->nodes.size() > 1);
    };
    std::vector<Op> ops;
    std::vector<std::string> after;  // created nodes come last
    for (const auto& node : own->nodes)
      if (stays(node)) after.push_back(join_path(request_.path(), node.text));
    for (const auto& node : own->nodes) {
      if (stays(node)) continue;
      after.push_back(join_path(request_.path(), reader_name(node)));
      ops.emplace_back(CreateOp{.path = after.back(),
                                .data = request_.owner,
                                .acl = request_.acl,
                                .mode = CreateMode::Ephemeral});
      ops.emplace_back(RemoveOp{.path = join_path(request_.path(), node.text)});
    }
    co_await nodes_.exchange(std::move(ops), std::move(after));
    request_.mode = LockMode::Shared;
    const bool held = co_await nodes_.prove();
    if (!held) throw LockLost(request_.path() + " was lost during the downgrade");
  }

  const Holding& holding() const override { return nodes_.holding(); }

 private:
  Task<> give_up() override {
    turn_.leave(false);
    co_await nodes_.take_back();
  }

  Task<> contend() override {
    if (request_.try_only) co_await turn_.look_first();
    for (;;) {
      co_await nodes_.make([this] { turn_.ask(); });
      const auto turn = co_await turn_.await(nodes_, names_);
      bool held = turn == Turn::Held;
      if (held) held = co_await nodes_.prove();
      if (held) co_return;
      if (turn == Turn::OtherNames) {
        names_ = Compat::All;
        turn_.report_other_names();
      } else if (request_.requeue) {
        turn_.report_lost_place(nodes_.same_session());
      } else {
        throw LockLost("the place in the queue of " + request_.path() + " is lost");
      }
      turn_.leave(true);
      co_await nodes_.take_back();  // some of several nodes may be left
      if (turn != Turn::OtherNames) co_await requests_.pause_after_loss();
    }
  }

  Compat names_;
  LockNodes nodes_;
  LockTurn turn_;
};

}  // namespace

std::unique_ptr<Recipe> make_fair_lock(Client& client, Fiber& fiber, const RecipeReport& report,
                                       LockRequest request) {
  return std::make_unique<FairLock>(client, fiber, report, std::move(request));
}

}  // namespace zksh
