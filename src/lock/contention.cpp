// Contention: many contenders for one lock in this process, and what happened to each of them.
#include "lock/contention.h"

#include "client/strand_driver.h"

#include <deque>
#include <memory>

namespace zksh {
namespace {

/// What the contenders share. One of them at a time is driven.
struct Arena {
  const ContentionPlan& plan;
  ContentionResult& result;
  std::stop_source& stop;
  StrandDriver& driver;
};

class Participant {
 public:
  Participant(std::size_t number, Client& client, const ContentionReport& report, Arena& arena)
      : number_(number),
        client_(client),
        arena_(arena),
        request_(arena.plan.request),
        strand_(client.monitor()) {
    const auto& plan = arena.plan;
    const bool reads =
        (number + 1) * plan.readers / plan.contenders > number * plan.readers / plan.contenders;
    if (reads) request_.mode = LockMode::Shared;
    const auto numbered =
        [number, &arena](const auto& listener) -> std::function<void(const std::string&)> {
      if (!listener) return {};
      // Who listens may wait, for a terminal that takes no output.
      return [number, &arena, &listener](const std::string& text) {
        arena.driver.leave([number, &listener, text] { listener(number, text); });
      };
    };
    report_.step = numbered(report.step);
    report_.warning = numbered(report.warning);
    report_.request = [&arena] { ++arena.result.requests; };
    report_.event = [&arena] { arena.result.events.push_back(Clock::now()); };
    strand_.begin(contend());
  }

  Strand& strand() { return strand_; }
  const std::deque<ContenderTurn>& turns() const { return turns_; }

 private:
  Flow<> contend();
  Flow<> take_turn(ContenderTurn& turn);

  std::size_t number_;
  Client& client_;
  Arena& arena_;
  LockRequest request_;
  LockReport report_;
  std::deque<ContenderTurn> turns_;
  Strand strand_;  // last: its flow uses the others
};

Flow<> Participant::take_turn(ContenderTurn& turn) {
  const auto lock = make_recipe(arena_.plan.recipe, client_, strand_, report_, request_);
  turn.asked = Clock::now();
  co_await lock->acquire(Strand::never);
  turn.acquired = Clock::now();
  std::exception_ptr interrupted;
  try {
    if (arena_.plan.hold.count() > 0)
      co_await strand_.pause_until(turn.acquired + arena_.plan.hold);
  } catch (const Cancelled&) {  // thrown on when the lock is given back
    interrupted = std::current_exception();
  }
  turn.releasing = Clock::now();
  const bool was_held = co_await lock->release();
  turn.released = Clock::now();
  turn.lost = !was_held;
  if (interrupted) std::rethrow_exception(interrupted);
}

Flow<> Participant::contend() {
  try {
    for (std::size_t round = 0; round < arena_.plan.rounds; ++round) {
      auto& turn = turns_.emplace_back();
      turn.contender = number_;
      turn.mode = request_.mode;
      co_await take_turn(turn);
    }
  } catch (const Cancelled&) {
    co_return;     // whoever interrupted knows
  } catch (...) {  // thrown by whoever runs the contention
    if (!arena_.result.failure) arena_.result.failure = std::current_exception();
    arena_.stop.request_stop();
  }
}

}  // namespace

ContentionResult contend(const ContentionPlan& plan, const std::vector<Client*>& clients,
                         const ContentionReport& report, const std::stop_token& stop) {
  ContentionResult result;
  std::stop_source all_stop;
  const std::stop_callback forward(stop, [&] { all_stop.request_stop(); });
  StrandDriver driver(clients.front()->monitor());
  Arena arena{.plan = plan, .result = result, .stop = all_stop, .driver = driver};
  std::vector<std::unique_ptr<Participant>> participants;
  participants.reserve(plan.contenders);
  for (std::size_t i = 0; i < plan.contenders; ++i) {
    auto& client = *clients[i % clients.size()];
    driver.add(participants.emplace_back(std::make_unique<Participant>(i, client, report, arena))
                   ->strand());
  }
  result.began = Clock::now();
  driver.run(all_stop.get_token());
  result.ended = Clock::now();
  result.turns.reserve(plan.contenders * plan.rounds);
  for (const auto& participant : participants)
    result.turns.insert(result.turns.end(), participant->turns().begin(),
                        participant->turns().end());
  return result;
}

}  // namespace zksh
