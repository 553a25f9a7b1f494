// Semaphore: a fixed number of leases, of which each holder has one or more.
#include "recipes/semaphore.h"

#include "base/number.h"
#include "base/text.h"
#include "client/node_path.h"
#include "client/patient_connection.h"
#include "recipes/fair_lock.h"
#include "recipes/lock_flaws.h"
#include "recipes/lock_queue.h"

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// The mutex among contenders for leases, with Curator's names, the only ones Curator knows.
LockRequest mutex_of(const LockRequest& request) {
  auto mutex = request;
  mutex.path = join_path(request.path, "locks");
  mutex.called = request.path;
  mutex.compat = Compat::Curator;
  mutex.try_only = false;
  return mutex;
}

LockNodesPlan lease_plan(const LockRequest& request, const std::string& path, int quantity,
                         const std::string& guid) {
  LockNodesPlan plan;
  for (int i = 0; i < quantity; ++i)
    plan.nodes.push_back({.path = join_path(path, fmt::format("_c_{}-lease-", guid)),
                          .data = request.owner,
                          .acl = request.acl,
                          .mode = CreateMode::Ephemeral,
                          .sequential = true});
  plan.parents = request.parent.value_or(CreateMode::Container);
  return plan;
}

}  // namespace

Semaphore::Semaphore(Client& client, Fiber& fiber, const LockReport& report, LockRequest request,
                     int count, int quantity)
    : requests_(client, fiber, report),
      report_(report),
      request_(std::move(request)),
      count_(count),
      quantity_(quantity),
      leases_path_(join_path(request_.path, "leases")),
      mutex_request_(mutex_of(request_)),
      mutex_report_(report),
      mutex_(requests_,
             [this](const std::string& guid) {
               return contender_plan(mutex_request_, Compat::Curator, guid);
             }),
      turn_(requests_, mutex_report_, mutex_request_, LockWait::Predecessor),
      leases_(requests_,
              [this](const std::string& guid) {
                return lease_plan(request_, leases_path_, quantity_, guid);
              }),
      watch_(requests_),
      listing_(requests_, watch_, leases_path_) {
  mutex_report_.waiting = [this](LockPlace place) {
    listing_.forget();  // the listing from before the wait is outdated
    place.leases = {.all = count_, .taken = 0, .wanted = quantity_};
    if (report_.waiting) report_.waiting(place);
  };
}

Task<> Semaphore::acquire(Clock::time_point deadline) {
  return attempt_until(deadline, requests_, contend(), [this] { return give_up(); });
}

Task<> Semaphore::give_up() {
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

Task<bool> Semaphore::release() {
  requests_.set_deadline(Fiber::never);
  co_return co_await leases_.take_back();
}

Task<> Semaphore::downgrade() {
  throw ValueError(request_.path + " is not held for writing");
  co_return;
}

Task<> Semaphore::contend() {
  wait_reported_ = false;
  if (request_.try_only) co_await look_first();
  for (;;) {
    co_await agree();
    const bool held = co_await attempt();
    if (held) co_return;
    if (!request_.requeue)
      throw LockLost("the place in the queue of " + request_.path + " is lost");
    turn_.report_lost_place(mutex_.same_session());
    co_await give_up();
    co_await requests_.pause_after_loss();
  }
}

/// A failed try must not cost others anything: no node, no watch, no event.
Task<> Semaphore::look_first() {
  co_await read_count();
  watches_ = false;
  co_await list();
  if (!fits()) throw LockBusy(request_.path + " is busy: " + taken());
}

/// Returns false if the place in the queue or the session is gone.
Task<bool> Semaphore::attempt() {
  co_await mutex_.make([this] {
    turn_.ask();
    ask_leases(false);
  });
  for (bool had = false; !had;) {
    // Repeated after each wait for room: somebody may have removed the mutex's node.
    const auto turn = co_await await_turn();
    if (turn != Turn::Held) co_return false;
    const bool room = co_await look_for_room();
    if (room) had = co_await take();
  }
  turn_.leave(true);
  co_await mutex_.take_back();
  co_await requests_.connected();  // the session, and with it the leases, may have ended meanwhile
  co_return co_await leases_.prove();
}

Task<Turn> Semaphore::await_turn() {
  const auto deadline = requests_.deadline();
  if (request_.try_only)
    requests_.set_deadline(std::min(deadline, Clock::now() + Clock::duration(passing_time)));
  const auto turn = co_await turn_.await(mutex_, Compat::Curator);
  requests_.set_deadline(deadline);
  co_return turn;
}

/// Returns true if there is room; false if there was none, after a change.
Task<bool> Semaphore::look_for_room() {
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
  if (request_.try_only) throw LockBusy(request_.path + " is busy: " + taken());
  co_await report_taken();
  const bool woken = co_await watch_.event();
  if (!woken) throw LockBusy(request_.path + " was not acquired in time: " + taken());
  turn_.ask();
  ask_leases(true);
  co_return false;
}

/// Returns false if it did not get the leases; none are left then.
Task<bool> Semaphore::take() {
  co_await leases_.make([this] {
    ask_leases(false);
    asked_count_ = requests_.send_get(request_.path);
  });
  co_await list();
  // Having seen room is no proof: if our mutex node was removed by hand, the next mutex holder saw
  // the same room.
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
Task<Semaphore::Count> Semaphore::read_count() {
  for (;;) {
    if (!asked_count_) {
      co_await requests_.connected();
      asked_count_ = requests_.send_get(request_.path);
    }
    auto sent = std::move(*asked_count_);
    asked_count_.reset();
    const auto outcome = co_await requests_.answer(std::move(sent));
    if (is_connection_failure(outcome.code)) continue;
    if (outcome.code == code::no_node) co_return Count::Missing;
    if (outcome.code != code::ok) throw ZkError(outcome.code, request_.path);
    version_ = outcome.value.stat.version;
    constexpr int own_children = 2;  // locks, leases
    if (outcome.value.stat.num_children > own_children) co_await warn_of_others();
    if (!outcome.value.data || outcome.value.data->empty()) co_return Count::Empty;
    compare(*outcome.value.data);
    co_return Count::Agreed;
  }
}

/// Only once.
Task<> Semaphore::warn_of_others() {
  if (!report_.warning || std::exchange(looked_at_others_, true)) co_return;
  auto sent = requests_.send_children(request_.path);
  auto outcome = co_await requests_.answer(std::move(sent));
  for (const auto& flaw : semaphore_flaws(make_lock_queue(std::move(outcome.value.names))))
    report_.warning(flaw);
}

void Semaphore::compare(const std::string& data) const {
  const auto number = number_in<int>(data);
  if (!number) {
    constexpr std::size_t longest = 40;
    const auto shown = data.size() > longest ? data.substr(0, longest) + "…" : data;
    throw ValueError(
        fmt::format("{} is not a semaphore: its data should be the number of leases, but is \"{}\"",
                    request_.path, escape_for_terminal(shown)));
  }
  if (*number != count_)
    throw ValueError(
        fmt::format("{} is a semaphore of {}, not {}; all contenders must give the same number "
                    "(the data of the node)",
                    request_.path, *number, count_));
}

/// Writes the number of leases if there is none. If two do, the server refuses one, which then
/// reads the other's.
Task<> Semaphore::agree() {
  for (;;) {
    const auto count = co_await read_count();
    if (count == Count::Agreed) co_return;
    if (count == Count::Missing) {
      const auto kind = request_.parent.value_or(CreateMode::Container);
      co_await make_ancestors(requests_, request_.path, kind, request_.acl);
      continue;
    }
    const SetOp op{.path = request_.path, .data = std::to_string(count_), .version = version_};
    auto sent = requests_.send([&] { return fmt::format("setData {} {}", op.path, count_); },
                               [&] { return requests_.client().start_set(op); });
    const auto outcome = co_await requests_.answer(std::move(sent));
    const bool again = is_connection_failure(outcome.code) || outcome.code == code::no_node ||
                       outcome.code == code::bad_version;
    if (!again && outcome.code != code::ok) throw ZkError(outcome.code, request_.path);
    if (!again) co_return;
  }
}

void Semaphore::ask_leases(bool with_watch) {
  watches_ = with_watch;
  listing_.ask(with_watch);
}

Task<> Semaphore::list() { names_ = co_await listing_.names(watches_); }

bool Semaphore::fits() const { return std::cmp_less_equal(names_.size(), count_ - quantity_); }

bool Semaphore::has_leases() const {
  return leases_.same_session() &&
         std::ranges::all_of(leases_.holding().nodes, [&](const std::string& node) {
           return std::ranges::find(names_, base_name(node)) != names_.end();
         });
}

std::string Semaphore::taken() const {
  return fmt::format("{} of {} leases are taken", names_.size(), count_);
}

Task<> Semaphore::report_taken() {
  if (!report_.waiting || wait_reported_)
    co_return;  // only once: leases may come and go while it waits for many
  wait_reported_ = true;
  LockPlace place;
  place.leases = {.all = count_, .taken = static_cast<int>(names_.size()), .wanted = quantity_};
  const auto queue = make_lock_queue(names_);
  if (!queue.contenders.empty()) {
    const auto oldest = join_path(leases_path_, queue.contenders.front().nodes.front().text);
    auto sent = requests_.send_get(oldest);
    const auto outcome = co_await requests_.answer(std::move(sent));
    if (outcome.code == code::ok) {
      place.holder = outcome.value.data.value_or("");
      place.holder_age_ms = age_ms(outcome.value.stat);
    }
  }
  report_.waiting(place);
}

}  // namespace zksh
