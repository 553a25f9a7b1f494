// Semaphore: a fixed number of leases; each holder has one or more.
#include "base/number.h"
#include "base/text.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "recipes/lock_flaws.h"
#include "recipes/lock_turn.h"

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// How long --try waits for contenders that are just taking their leases.
constexpr std::chrono::seconds longest_passing{1};

/// The mutex among contenders for leases, with Curator's names, the only ones Curator knows.
LockRequest mutex_of(const LockRequest& request) {
  auto mutex = request;
  mutex.paths = {join_path(request.path(), "locks")};
  mutex.called = request.path();
  mutex.compat = Compat::Curator;
  mutex.try_only = false;
  return mutex;
}

/// `mutex`: the nodes of the mutex, which is given up in the same transaction; `written`: what
/// others have written to them, such as a request to release.
NodesPlan lease_plan(const LockRequest& request, const std::string& path, const std::string& guid,
                     const std::vector<std::string>& mutex, const Node& written) {
  constexpr std::size_t longest_request = 4096;  // `revoke` keeps to it
  const bool is_request = written.data && written.data->size() <= longest_request;
  const CreateOp lease{.path = join_path(path, fmt::format("_c_{}-lease-", guid)),
                       .data = is_request ? *written.data : request.owner,
                       .acl = request.acl,
                       .mode = CreateMode::Ephemeral,
                       .sequential = true};
  NodesPlan plan{.nodes = std::vector(static_cast<std::size_t>(request.quantity), lease),
                 .parents = request.parent.value_or(CreateMode::Container)};
  for (const auto& node : mutex)
    plan.removals.push_back({.path = node, .version = written.stat.version});
  return plan;
}

/// A semaphore with the nodes of Curator's InterProcessSemaphoreV2. A contender queues up for a
/// fair mutex at PATH/locks. The mutex holder waits, as the only one to watch the children of
/// PATH/leases, until there is room for all leases it wants, and creates them in one transaction;
/// so nobody holds a part of its leases while waiting for the rest. All children of PATH/leases
/// count, whoever created them. Holders release in any order, without the mutex.
///
/// The same transaction deletes the mutex's node. So it fails, and makes no lease, if that node is
/// gone: if somebody has deleted it, the next mutex holder saw the same room. And the next holder
/// of the mutex lists the leases after they were made. It also fails if somebody has written to
/// that node; the leases are then made with what was written, so that a request to release is not
/// lost with the node.
///
/// The number of leases is stored in the data of PATH, as kazoo's Semaphore does. It is written if
/// there is none, and compared at the start (far from the servers, while joining the queue) and
/// again once the leases are held. Curator ignores it.
/// Source: Curator Tech Notes and InterProcessSemaphoreV2; kazoo.recipe.lock.Semaphore.
class Semaphore final : public ContendingRecipe {
 public:
  Semaphore(Client& client, Fiber& fiber, const RecipeReport& report, LockRequest request)
      : ContendingRecipe(client, fiber, report, std::move(request)),
        count_(request_.leases),
        quantity_(request_.quantity),
        leases_path_(join_path(request_.path(), "leases")),
        mutex_request_(mutex_of(request_)),
        mutex_report_(report),
        mutex_(requests_,
               [this](const std::string& guid) {
                 auto plan = contender_plan(mutex_request_, Compat::Curator, guid);
                 plan.top = request_.path();
                 return plan;
               }),
        turn_(requests_, mutex_report_, mutex_request_),
        leases_(requests_,
                [this](const std::string& guid) {
                  return lease_plan(request_, leases_path_, guid, mutex_.holding().nodes,
                                    mutex_node_);
                }),
        watch_(requests_),
        listing_(requests_, watch_, leases_path_) {
    mutex_report_.waiting = [this](QueuePlace place) {
      listing_.forget();  // the listing from before the wait is outdated
      place.leases = {.all = count_, .taken = 0, .wanted = quantity_};
      if (report_.waiting) report_.waiting(place);
    };
  }

  Task<bool> release() override { return leases_.take_back(); }

  const Holding& holding() const override { return leases_.holding(); }

 private:
  /// What the node's data say about the number of leases.
  enum class Count { Missing, Empty, Agreed };

  Task<> give_up() override {
    watch_.drop();
    turn_.leave(false);
    listing_.forget();
    asked_count_.reset();
    std::exception_ptr failure;
    try {
      co_await leases_.take_back();
    } catch (...) {  // rethrown once the mutex is given back too
      failure = std::current_exception();
    }
    co_await mutex_.take_back();
    if (failure) std::rethrow_exception(failure);
  }

  Task<> contend() override {
    wait_reported_ = false;
    if (request_.try_only) co_await look_first();
    for (;;) {
      const bool ahead = is_far(requests_.client());
      if (ahead)
        asked_count_ = requests_.send_get(request_.path());
      else
        co_await agree();
      const bool held = co_await attempt(ahead);
      if (held) co_return;
      if (!request_.requeue)
        throw LockLost("the place in the queue of " + request_.path() + " is lost");
      turn_.report_lost_place(mutex_.same_session());
      co_await give_up();
      co_await requests_.pause_after_loss();
    }
  }

  /// A failed try must not cost others anything: no node, no watch, no event.
  Task<> look_first() {
    co_await read_count();
    watches_ = false;
    co_await list();
    if (!fits()) throw LockBusy(request_.path() + " is busy: " + taken());
  }

  /// Returns false if the place in the queue or the session is gone. `unread`: the number of leases
  /// has been asked for ahead of joining the queue, and is compared before waiting for the mutex.
  Task<bool> attempt(bool unread) {
    co_await mutex_.make([this] {
      turn_.ask();
      ask_leases(false);
    });
    if (unread) co_await agree();
    for (bool room = false; !room;) {
      // Repeated after each wait for room: somebody may have removed the mutex's node.
      const auto turn = co_await await_turn();
      if (turn != Turn::Held) co_return false;
      room = co_await look_for_room();
    }
    const bool had = co_await take();
    if (!had) co_return false;
    // The session, and with it the leases, may have ended meanwhile.
    co_await requests_.connected();
    co_return co_await leases_.prove();
  }

  Task<Turn> await_turn() {
    const auto deadline = requests_.deadline();
    if (request_.try_only)
      requests_.set_deadline(std::min(deadline, Clock::now() + Clock::duration(longest_passing)));
    const auto turn = co_await turn_.await(mutex_, Compat::Curator);
    requests_.set_deadline(deadline);
    co_return turn;
  }

  /// Returns true if there is room; false if there was none, after a change.
  Task<bool> look_for_room() {
    co_await list();
    if (!fits() && !watches_) {
      ask_leases(true);
      co_await list();
    }
    if (fits()) {
      watch_.drop();
      watches_ = false;
      co_return true;
    }
    if (request_.try_only) throw LockBusy(request_.path() + " is busy: " + taken());
    co_await report_taken();
    const bool woken = co_await watch_.event();
    if (!woken) throw LockBusy(request_.path() + " was not acquired in time: " + taken());
    turn_.ask();
    ask_leases(true);
    co_return false;
  }

  /// Returns false if it did not get the leases; none are left then.
  Task<bool> take() {
    mutex_node_ = {};
    for (;;) {
      const int result = co_await leases_.make([this] {
        ask_leases(false);
        asked_count_ = requests_.send_get(request_.path());
      });
      if (result == code::ok) break;
      if (result != code::bad_version) co_return false;
      auto outcome = co_await requests_.answer(requests_.send_get(mutex_.holding().nodes.front()));
      if (outcome.code == code::ok)
        mutex_node_ = std::move(outcome.value);
      else if (outcome.code == code::no_auth)
        mutex_node_.stat.version = -1;
      else if (!is_connection_failure(outcome.code) && outcome.code != code::throttled)
        co_return false;
    }
    turn_.leave(true);
    mutex_.removed();
    co_await list();
    // Having seen room is no proof: others may have created leases without the mutex.
    const bool had = has_leases() && std::cmp_less_equal(names_.size(), count_);
    if (had) {
      // Now the node cannot vanish any more, so its number of leases is binding for all.
      co_await agree();
      co_return true;
    }
    asked_count_.reset();
    co_await leases_.take_back();
    co_return false;
  }

  /// Throws ValueError if the node has another number, or none.
  Task<Count> read_count() {
    for (;;) {
      if (!asked_count_) {
        co_await requests_.connected();
        asked_count_ = requests_.send_get(request_.path());
      }
      const auto outcome = co_await requests_.answer(*std::exchange(asked_count_, std::nullopt));
      if (is_connection_failure(outcome.code)) continue;
      if (outcome.code == code::no_node) co_return Count::Missing;
      if (outcome.code != code::ok) throw ZkError(outcome.code, request_.path());
      version_ = outcome.value.stat.version;
      constexpr int own_children = 2;  // locks, leases
      if (outcome.value.stat.num_children > own_children) co_await warn_of_others();
      if (!outcome.value.data || outcome.value.data->empty()) co_return Count::Empty;
      compare(*outcome.value.data);
      co_return Count::Agreed;
    }
  }

  /// Only once.
  Task<> warn_of_others() {
    if (!report_.warning || std::exchange(looked_at_others_, true)) co_return;
    const auto outcome = co_await requests_.answer(requests_.send_children(request_.path()));
    for (const auto& flaw : semaphore_flaws(make_lock_queue(outcome.value.names.strings())))
      report_.warning(flaw);
  }

  void compare(const std::string& data) const {
    const auto number = number_in<int>(data);
    if (!number) {
      constexpr std::size_t longest = 40;
      const auto shown = data.size() > longest ? data.substr(0, longest) + "…" : data;
      throw ValueError(fmt::format(
          "{} is not a semaphore: its data should be the number of leases, but is \"{}\"",
          request_.path(), escape_for_terminal(shown)));
    }
    if (*number != count_)
      throw ValueError(
          fmt::format("{} is a semaphore of {}, not {}; all contenders must give the same number "
                      "(the data of the node)",
                      request_.path(), *number, count_));
  }

  /// Writes the number of leases if there is none. If two do, the server refuses one, which then
  /// reads the other's.
  Task<> agree() {
    for (;;) {
      const auto count = co_await read_count();
      if (count == Count::Agreed) co_return;
      if (count == Count::Missing) {
        const auto kind = request_.parent.value_or(CreateMode::Container);
        co_await make_ancestors(requests_, request_.path(), kind, request_.acl);
        continue;
      }
      const SetOp op{.path = request_.path(), .data = std::to_string(count_), .version = version_};
      const auto outcome = co_await requests_.answer(
          requests_.send(requests_.client().start_set(op), "setData {} {}", op.path, count_));
      const bool again = is_connection_failure(outcome.code) || outcome.code == code::no_node ||
                         outcome.code == code::bad_version;
      if (!again && outcome.code != code::ok) throw ZkError(outcome.code, request_.path());
      if (!again) co_return;
    }
  }

  void ask_leases(bool with_watch) {
    watches_ = with_watch;
    listing_.ask(with_watch);
  }

  Task<> list() { names_ = co_await listing_.names(watches_); }

  bool fits() const { return std::cmp_less_equal(names_.size(), count_ - quantity_); }

  bool has_leases() const {
    return leases_.same_session() &&
           std::ranges::all_of(leases_.holding().nodes, [&](const std::string& node) {
             return std::ranges::find(names_, base_name(node)) != names_.end();
           });
  }

  std::string taken() const {
    return fmt::format("{} of {} leases are taken", names_.size(), count_);
  }

  Task<> report_taken() {
    if (!report_.waiting || wait_reported_)
      co_return;  // only once: leases may come and go while it waits for many
    wait_reported_ = true;
    QueuePlace place;
    place.leases = {.all = count_, .taken = static_cast<int>(names_.size()), .wanted = quantity_};
    const auto queue = make_lock_queue(names_);
    if (!queue.contenders.empty()) {
      const auto oldest = join_path(leases_path_, queue.contenders.front().nodes.front().text);
      const auto outcome = co_await requests_.answer(requests_.send_get(oldest));
      note_holder(outcome, place);
    }
    report_.waiting(place);
  }

  int count_;
  int quantity_;
  std::string leases_path_;

  LockRequest mutex_request_;
  RecipeReport mutex_report_;
  LockNodes mutex_;
  Node mutex_node_{};  ///< as last read, when it was no longer as created
  LockTurn turn_;
  LockNodes leases_;
  RecipeWatch watch_;  ///< on the leases
  ChildListing listing_;

  std::optional<RecipeRequests::Sent<Node>> asked_count_;  ///< sent in advance
  std::int32_t version_ = 0;                               ///< of the data last read
  bool watches_ = false;                                   ///< the leases were listed with a watch
  std::vector<std::string> names_;                         ///< of the leases, as last listed
  bool looked_at_others_ = false;
  bool wait_reported_ = false;  ///< the user knows that it waits for leases
};

}  // namespace

std::unique_ptr<Recipe> make_semaphore(Client& client, Fiber& fiber, const RecipeReport& report,
                                       LockRequest request) {
  return std::make_unique<Semaphore>(client, fiber, report, std::move(request));
}

}  // namespace zksh
